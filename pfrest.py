import sys; sys.path.insert(0,'/tmp/rows'); import table
from tightdp.methods.control import Control
from tightdp.methods import elimination as E
from tightdp.methods.elimination import *
from tightdp.methods.elimination_plan import make_plan
from tightdp.methods.elimination_table import Walk
from tightdp.methods.aggregate import find_cut
from tightdp.core.nodes import *
from tightdp.core.passes import *
import time
name=sys.argv[1]
m,n,_,kw=table.ROWS[name]
i=m.bind(n=n,**kw)
p=i.engine.program
core=p.core(Control())
def acts(core):
    ds=[e for e in reachable(core.roots) if isinstance(e,Draw)]
    told={e.serial for e in reachable(core.roots)}
    print([(d.name, d.active is not None, d.active and d.active.serial in told) for d in ds])
acts(core)
t=time.process_time(); cut=find_cut(expand_shuffles(arrangements_to_counts(core).program),n); print("cut",time.process_time()-t)
rest=cut.rest
acts(rest)
print("nodes", len(reachable(rest.roots)), [type(c).__name__ for c in rest.components], len(rest.checks))
t=time.process_time(); plan=make_plan(rest); print("plan",time.process_time()-t, plan.logarithm)
old=E.Elimination._take
def take(self,at,part,waiting,failed):
    s=self.plan.steps[at]; node=self.plan.nodes.nodes[s.node]
    t0=time.process_time()
    old(self,at,part,waiting,failed)
    print(at,s.kind,getattr(node.expr,'operator',getattr(node.expr,'name','')),"in",len(part.rows),"cols",len(s.layout),"guard",len(s.guard), [len(g) for g in s.guard], "wait",sum(len(x.rows) for ps in waiting.values() for x in ps), round(time.process_time()-t0,3))
if len(sys.argv)>2: E.Elimination._take=take
w=Walk(Elimination(plan))
vals=[leaf.values[0] for leaf in w.leaves]; vals[0]=n
t=time.process_time(); w.end(vals); print("law", time.process_time()-t, w.elimination.work)
