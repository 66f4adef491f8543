import sys; sys.path.insert(0,'/tmp/rows'); import table
from tightdp.methods.control import Control
from tightdp.methods.elimination import *
from tightdp.methods.elimination_plan import _Planner
from tightdp.methods.elimination_nodes import leaf_orders
from tightdp.methods.elimination_table import Walk
from tightdp.methods.aggregate import find_cut
from tightdp.core.nodes import *
from tightdp.core.passes import *
import time
for name in sys.argv[1:]:
    m,n,_,kw=table.ROWS[name]
    i=m.bind(n=n,**kw)
    core=i.engine.program.core(Control())
    core=expand_shuffles(arrangements_to_counts(core).program)
    cut=find_cut(core,n)
    for what,prog in (("core",core),)+((("rest",cut.rest),) if cut else ()):
        need=list(leaf_orders(prog))
        def byserial(first):
            # inputs at their place in first, draws by serial
            ins=[l for l in first if isinstance(l,Input)]
            return ins+sorted([l for l in first if isinstance(l,Draw)],key=lambda d:d.serial)
        orders={"need":need[0],"bdd":need[1],"serial":byserial(need[0])}
        for k,o in orders.items():
            plan=_Planner(prog,o).run()
            w=Walk(Elimination(plan,budget=3_000_000))
            vals=[leaf.values[len(leaf.values)//2] for leaf in w.leaves]
            t=time.process_time()
            try: w.end(vals)
            except Exception as e: print(type(e).__name__, end=" ")
            print(name,what,k,"est",round(plan.logarithm,1),"work",w.elimination.work, round(time.process_time()-t,2))
