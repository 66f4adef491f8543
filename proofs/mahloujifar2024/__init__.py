"""The claims of mahloujifar2024 (auditing f-DP in one run), a file for each printed section."""

from .paper import paper

__all__ = ["paper"]

paper.sections(
    __name__,
    "section_2_guarantee",
    "section_3_main_theorem",
    "section_3_1_algorithm",
    "section_3_1_chosen_number",
    "section_4_tightness",
    "section_4_experiments",
    "appendix_a_1_lemma_11",
    "appendix_a_1_proposition_12",
    "appendix_a_2_monotone",
    "figures",
)
