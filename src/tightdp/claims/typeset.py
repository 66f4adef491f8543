"""Mathematics of sentences as TeX between dollar signs, which the site typesets.

Formulas between backticks are set as a whole; in prose a run of words that is plainly mathematics is.
"""

from __future__ import annotations

import re

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "κ": "kappa", "λ": "lambda", "μ": "mu", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "varphi", "χ": "chi",
    "Σ": "sum", "Π": "prod", "Δ": "Delta", "Ω": "Omega", "Θ": "Theta", "π": "pi", "ℓ": "ell", "ω": "omega",
}  # fmt: skip
_SIGNS = {
    "<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "≠": r"\ne ", "·": r"\cdot ", "±": r"\pm ", "∓": r"\mp ", "∞":
    r"\infty ",
    "->": r"\to ", "∘": r"\circ ", "⊥": r"\bot ", "∈": r"\in ", "×": r"\times ", "²": "^2", "³": "^3",
    "½": r"\tfrac12 ",
    "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "⁻¹": "^{-1}", "%": r"\%", "&": r"\&",
    "#": r"\#", "{": r"\{", "}": r"\}", "√": r"\surd ", "...": r"\dots ", "f̄": r"\bar f ", "∧": r"\wedge ",
    "<->": r"\leftrightarrow ",
}  # fmt: skip
_FUNCTIONS = {"ln": r"\ln ", "log": r"\log ", "log2": r"\log_2 ", "exp": r"\exp ", "min": r"\min ", "max": r"\max ",
              "sup": r"\sup ", "inf": r"\inf ", "limsup": r"\limsup "}  # fmt: skip
_TOKEN = re.compile(
    r"sqrt\(|\.\.\.|<->|<=|>=|!=|->|f̄|⁻¹|[A-Za-z]{2,}\d*(?:[ -][A-Za-z]{2,})*|[A-Za-z]|\d+(?:\.\d+)?|\s+|.", re.DOTALL
)
_MATH = re.compile(r"[\^_=<>≠·±²³½√∞Σ∏Πℓ⌊⌈]|[α-ωΔΩΘ]|\d[-+*/]|[-+/]\d|\w\(\w")
_NAME = re.compile(r"[A-Za-z]{2}_[A-Za-z]{2}")
"""In a word, it is the name of something in a program."""


def typeset(text: str) -> str:
    """Return Markdown with its formulas in TeX: those between backticks, and runs of mathematics in prose."""
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    mark = "- " if line.startswith("- ") else ""
    pieces = re.split(r"(`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\))", line[len(mark) :])
    return mark + "".join(map(_piece, pieces))


def _piece(piece: str) -> str:
    if piece.startswith("`"):
        return _formula(piece)
    return piece if piece.startswith(("[", "$")) else _prose(piece)


def _formula(piece: str) -> str:
    inside = piece[1:-1]
    return (
        piece if re.match(r"tightdp|proofs/|programs/|python", inside) or _NAME.search(inside) else f"${tex(inside)}$"
    )


def _prose(text: str) -> str:
    """Set the runs of mathematics in prose."""
    words = re.split(r"(\s+)", text)
    out: list[str] = []
    run: list[str] = []

    def flush() -> None:
        if run:
            out.append(_run("".join(run)))
            run.clear()

    for word in words:
        if not word.strip():
            if "\n" in word:
                flush()
            (run or out).append(word)
        elif _is_mathematical(word):
            run.append(word)
            if word[-1] in ",.;:" and not word.endswith("..."):
                flush()
        else:
            flush()
            out.append(word)
    flush()
    return "".join(out)


def _is_mathematical(word: str) -> bool:
    core = word.strip(",.;:")
    if re.fullmatch(r"[A-Z]{1,2}\d+[a-z]?|\(?[A-Z]\d+-[A-Z]\d+\)?|\(\d+\)|\d{4}", core) or (
        core.startswith(("http", "[", "**", "-")) and core != "-"
    ):
        return False
    if "`" in word or not core or _NAME.search(core):
        return False
    return (
        bool(_MATH.search(core))
        or (core in ("+", "-", "=", "/", "in") and core != "in")
        or bool(re.fullmatch(r"[B-HJ-Zb-z]'?|\d+", core))
    )


def _run(run: str) -> str:
    """Set a run of mathematical words; what stands around it, and single numbers, stay as they are."""
    head = re.match(r"\s*", run).group()  # type: ignore[union-attr]
    body = run[len(head) :]
    tail = re.search(r"[\s,.;:]*$", body).group()  # type: ignore[union-attr]
    body = body[: len(body) - len(tail)]
    while body and (body.count("(") != body.count(")") or body.count("[") != body.count("]")):
        if body.count("(") > body.count(")") and body.startswith("("):
            head, body = head + "(", body[1:]
        elif body.count(")") > body.count("(") and body.endswith(")"):
            body, tail = body[:-1], ")" + tail
        else:
            return run
    if not body or re.fullmatch(r"[\d.,/ -]+", body) or body in ("-", "+"):
        return run
    return f"{head}${tex(body)}${tail}"


def tex(formula: str) -> str:
    """Return a formula in TeX: exponents and indices grouped, roots over their arguments, words upright."""
    return _set(_TOKEN.findall(formula))


def _set(tokens: list[str]) -> str:
    out: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token == "sqrt(":
            end = _closing(tokens, at)
            out.append(rf"\sqrt{{{_set(tokens[at + 1 : end])}}}")
            at = end
        elif token == "^" and (at == 0 or tokens[at - 1].isspace()):
            out.append(r"\oplus ")
        elif token in ("^", "_") and at + 1 < len(tokens):
            end = _argument(tokens, at + 1)
            while token == "^" and tokens[end + 1 : end + 2] == ["'"]:
                end += 1
            inner = tokens[at + 1 : end + 1]
            if inner and inner[0] == "(":
                inner = inner[1:-1]
            if inner and inner[0] == "{":
                inner = inner[1:-1]
            out.append(f"{token}{{{_set(inner)}}}")
            at = end
        elif token in _FUNCTIONS:
            out.append(_FUNCTIONS[token])
        elif token in _GREEK:
            out.append(f"\\{_GREEK[token]} ")
        elif token in _SIGNS:
            out.append(_SIGNS[token])
        elif re.fullmatch(r"[A-Za-z]{2,}\d*(?:[ -][A-Za-z]{2,})*", token):
            out.append(rf"\text{{{token}}}")
        elif token.isspace():
            spaced = out and tokens[at - 1][-1].isalpha() and at + 1 < len(tokens) and tokens[at + 1][0].isalpha()
            out.append(r"\ " if spaced else " ")
        else:
            out.append(token)
        at += 1
    return re.sub(r"\s+", " ", "".join(out)).strip()


def _closing(tokens: list[str], at: int) -> int:
    """Return where the parenthesis that opens at a token closes, or the end."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place] in ("(", "sqrt(", "{")
        depth -= tokens[place] in (")", "}")
        if depth == 0:
            return place
    return len(tokens)


def _argument(tokens: list[str], at: int) -> int:
    """Return the last token of an exponent or index."""
    if tokens[at] in ("(", "{", "sqrt("):
        return min(_closing(tokens, at), len(tokens) - 1)
    if tokens[at] == "-" and at + 1 < len(tokens):
        return _argument(tokens, at + 1)
    if at + 1 < len(tokens) and tokens[at] in _FUNCTIONS:
        return _argument(tokens, at + 1)
    return at
