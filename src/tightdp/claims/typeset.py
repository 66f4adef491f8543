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
    "⊕": r"\oplus ", "<->": r"\leftrightarrow ",
}  # fmt: skip
_FUNCTIONS = {"ln": r"\ln ", "log": r"\log ", "log2": r"\log_2 ", "exp": r"\exp ", "min": r"\min ", "max": r"\max ",
              "sup": r"\sup ", "inf": r"\inf ", "limsup": r"\limsup "}  # fmt: skip
_TOKEN = re.compile(
    r"sqrt\(|\.\.\.|<->|<=|>=|!=|->|f̄|⁻¹|[A-Za-z]{2,}\d*(?:[ -][A-Za-z]{2,})*|[A-Za-zα-ωΔ]\d+(?![\w.])"
    r"|[A-Za-z]|\d+(?:\.\d+)?|\s+|.",
    re.DOTALL,
)
_MATH = re.compile(r"[\^_=<>≠·±²³½√∞Σ∏Πℓ⌊⌈]|[α-ωΔΩΘ]|\d[-+*/]|[-+/]\d|\w\(\w|\b[A-Za-z]/[A-Za-z]\b")
_SUFFIX = re.compile(r"-[A-Za-z]{2,}[,.;:)]*$")
"""As in ε-DP: the word after the hyphen is none of the formula."""
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
    """Set the runs of mathematics in prose: mathematical words, with those that they are joined to."""
    out: list[str] = []
    for paragraph in text.split("\n"):
        words = re.findall(r"(?:[^\s{]|\{[^}]*\})+", paragraph)
        gaps = re.split(r"(?:[^\s{]|\{[^}]*\})+", paragraph)
        line, at = gaps[0], 0
        while at < len(words):
            end = _end(words, at)
            inside = "".join(word + gap for word, gap in zip(words[at:end], gaps[at + 1 : end], strict=False))
            line += (_run(inside + words[end - 1]) if end > at else words[at]) + gaps[max(end, at + 1)]
            at = max(end, at + 1)
        out.append(line)
    return "\n".join(out)


def _end(words: list[str], at: int) -> int:
    """Return where a run of mathematics ends that begins at a word; that word itself if there is none."""
    end, depth, sure = at, 0, False
    while end < len(words):
        word = words[end]
        if not (_is_mathematical(word) or (_is_short(word) and (depth > 0 or _joined(words, end)))):
            break
        sure = sure or _is_mathematical(word)
        depth += word.count("(") - word.count(")")
        end += 1
        if depth > 0 and re.search(r"\w\([^)]*$", word):  # words inside of P( ... ) belong to it
            inner = depth
            for close in range(end, min(end + 9, len(words))):
                inner += words[close].count("(") - words[close].count(")")
                if inner <= 0:
                    end, depth, sure = close + 1, 0, True
                    break
        if (depth <= 0 and words[end - 1][-1] in ",.;:" and not words[end - 1].endswith("...")) or _SUFFIX.search(
            words[end - 1]
        ):
            break
    return end if sure else at


def _is_mathematical(word: str) -> bool:
    """Whether a word is mathematics by itself."""
    core = word.strip(",.;:")
    if re.fullmatch(r"\(?[A-Z]{1,2}\d+[a-z]?\)?|\(?[A-Z]\d+-[A-Z]\d+\)?|\(\d+\)|\d{4}", core) or (
        core.startswith(("http", "[", "**", "-")) and core not in ("-", "->")
    ):
        return False
    if "`" in word or not core or _NAME.search(core):
        return False
    return (
        bool(_MATH.search(core))
        or core in ("+", "-", "=", "/", "->", "<->", "⊕")
        or bool(re.fullmatch(r"[B-HJ-Zb-z]'?|\(?\d+[a-z]'?\)?", core))
    )


def _is_short(word: str) -> bool:
    """Whether a word may be mathematics beside some: a letter, a number, a function, with parentheses."""
    core = word.strip(",.;:()|[]")
    return bool(re.fullmatch(r"\d*[A-Za-z]?'?|\d+(?:\.\d+)?", core)) or core in _FUNCTIONS or bool(_MATH.search(core))


def _joined(words: list[str], at: int) -> bool:
    """Whether an operator or a relation joins a word to the one before or after it."""
    before = words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) and words[at][-1] not in ",.;:" else ""
    return bool(re.search(r"[-+·=<>≠/]$|^(?:ln|log|exp)$", before) or re.search(r"^[-+·=<>≠/]=?$", after)) or (
        words[at] in _FUNCTIONS and bool(after)
    )


def _run(run: str) -> str:
    """Set a run of mathematical words; what stands around it, and single numbers, stay as they are."""
    if suffix := _SUFFIX.search(run):
        return _run(run[: suffix.start()]) + suffix[0]
    head, body, tail = "", run, re.search(r"[,.;:]*$", run).group()  # type: ignore[union-attr]
    body = body[: len(body) - len(tail)]
    while body and (loose := _loose(body)) is not None:
        if loose == 0:
            head, body = head + body[0], body[1:]
        elif loose == len(body) - 1:
            body, tail = body[:-1], body[-1] + tail
        else:
            left, right = body[:loose].rstrip(), body[loose + 1 :].lstrip()
            return head + _run(left) + f"{body[len(left) : len(body) - len(right)]}" + _run(right) + tail
    if not body or re.fullmatch(r"[\d.,/ -]+", body) or body in ("-", "+"):
        return head + body + tail
    return f"{head}${tex(body)}${tail}"


def _loose(text: str) -> int | None:
    """Return where a parenthesis without its partner stands, the first of them."""
    opened: list[int] = []
    for at, sign in enumerate(text):
        if sign in "([":
            opened.append(at)
        elif sign in ")]":
            if not opened:
                return at
            opened.pop()
    return opened[0] if opened else None


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
        elif re.fullmatch(r"[A-Za-zα-ωΔ]\d+", token):
            out.append(f"{_set([token[0]]).strip()}_{{{token[1:]}}}")
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
