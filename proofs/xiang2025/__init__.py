"""The claims of xiang2025 (tight privacy audit in one run), a file for each printed section."""

from .paper import paper

__all__ = ["paper"]

paper.sections(
    __name__,
    "section_2_1_privacy",
    "section_5_2_one_bit",
    "section_5_2_theorem_1",
    "section_5_2_where_it_holds",
    "section_5_3_theorem_3",
    "section_5_3_proposition_1",
    "section_5_3_ties",
    "section_5_4_conversion",
    "section_6_2_four_outputs",
    "section_6_2_published_bound",
    "appendix_b_2_reduction",
    "figures",
)
