"""All benchmarks, one after the other, or those that are named: each is a section of benchmarks/README.md.

    python benchmarks/run.py                      every section (two to three hours)
    python benchmarks/run.py large growth         these only
    python benchmarks/run.py tasks -- --quick     with options for the script of a section
    python benchmarks/run.py --write              tables into README.md and docs/, and the plots

Every section is a script of its own, and a process of its own, so that none is slowed down by what another has cached.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"


@dataclass(frozen=True)
class Section:
    """A script, the question that it answers, and what makes it write its table or plot."""

    script: str
    question: str
    write: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


SECTIONS = {
    "tasks": Section("beside.py", "time and memory beside brute force, ProbLog and Storm", ("--write",)),
    "curves": Section("beside.py", "time against n beside the same", ("--write",), ("--plot",)),
    "large": Section("large.py", "sizes beyond exact rationals, beside one pair in doubles"),
    "composition": Section("composition.py", "many runs, beside dp_accounting"),
    "oracles": Section("oracles.py", "other accountants: are ends on their side", ("--write",)),
    "batches": Section("batch_samplers.py", "Poisson, shuffled, balls and bins", ("--plot", str(DOCS / "batches.svg"))),
    "growth": Section("growth.py", "time against the size of what is read", ("--plot",)),
    "sizes": Section("sizes.py", "the largest n within two seconds", ("--write",)),
    "cliffs": Section("cliffs.py", "no question takes much longer than its runs"),
    "dipc": Section("dipc.py", "the programs of DiPC, for every ε", ("--write",)),
    "numbers": Section("exponentials.py", "numbers with e^q, and unknowns", ("--write",)),
    "certificates": Section("certificates.py", "solving beside checking", ("--write",)),
    "audits": Section("audit_methods.py", "methods of audits"),
}


def main() -> int:
    """Run sections; return 1 when one of them fails."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    own, others = words[:end], words[end + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--write", action="store_true", help="put tables and plots into the docs")
    asked = parser.parse_args(own)
    unknown = [name for name in asked.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {unknown[0]}: give some of {', '.join(SECTIONS)}")
    failed = []
    for name in asked.sections or SECTIONS:
        section = SECTIONS[name]
        print(f"\n== {name}: {section.question}\n", flush=True)
        command = [sys.executable, str(HERE / section.script), *section.options, *others]
        if subprocess.run([*command, *(section.write if asked.write else ())], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
