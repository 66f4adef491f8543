"""The claims of oakley2024 (tight bounds by weighted model counting), a file for each printed section."""

from .paper import paper

__all__ = ["paper"]

paper.sections(
    __name__,
    "section_2_1_privacy",
    "section_3_3_accuracy",
    "section_4_2_privacy_bound",
    "section_4_3_accuracy_bound",
    "section_5_1_formula",
    "section_5_3_privacy_set",
    "section_5_4_accuracy_set",
    "section_6_1_markov_chains",
    "section_6_2_expressiveness",
    "section_6_3_accuracy",
    "figures",
)
