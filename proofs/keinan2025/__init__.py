"""The claims of keinan2025 (how well can DP be audited in one run), a file for each printed section."""

from .paper import paper

__all__ = ["paper"]

paper.sections(
    __name__,
    "section_5_efficacy",
    "appendix_a_2_validity",
    "appendix_a_3_confidence_bounds",
    "appendix_a_4_asymptotics",
    "appendix_a_5_classic_auditor",
    "appendix_b_gaps",
    "appendix_c_1_total_variation",
    "appendix_c_3_equality",
    "appendix_c_4_asymptotics",
    "appendix_c_5_local",
    "appendix_d_2_count",
    "appendix_d_2_count_in_sets",
    "appendix_e_1_full_knowledge",
    "appendix_e_2_adaptive",
    "appendix_e_2_anytime",
    "appendix_e_2_dominance",
    "appendix_e_3_sure_guesses",
    "figures",
)
