import sys; sys.path.insert(0,'/tmp/rows'); import table
from tightdp.methods.control import Control
from tightdp.methods.elimination_table import EliminationTable
from tightdp.methods import elimination as E
import time
name=sys.argv[1]
m,n,_,kw=table.ROWS[name]
i=m.bind(n=n,**kw)
p=i.engine.program
t=time.process_time(); core=p.core(Control()); print("core", time.process_time()-t)
from tightdp.core.nodes import reachable
print("nodes", len(reachable(core.roots)))
tab=EliminationTable(i.engine.bound, core)
t=time.process_time(); w=tab._walk(None, lambda: tab.program); pl=w.elimination.plan
print("plan", time.process_time()-t, len(pl.steps), pl.logarithm)
old=E.Elimination._take
def take(self,at,part,waiting,failed):
    s=self.plan.steps[at]; node=self.plan.nodes.nodes[s.node]
    t0=time.process_time()
    old(self,at,part,waiting,failed)
    print(at,s.kind,getattr(node.expr,'operator',getattr(node.expr,'name','')),"in",len(part.rows),"cols",len(s.layout),"guard",len(s.guard), [len(g) for g in s.guard], "wait",sum(len(x.rows) for ps in waiting.values() for x in ps), round(time.process_time()-t0,3))
E.Elimination._take=take
x=tuple(i.engine.bound.record.values[0] for _ in range(n))
t=time.process_time(); tab.weights(x); print("law", time.process_time()-t, tab.work)
