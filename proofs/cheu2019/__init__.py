"""The claims of cheu2019 (distributed DP via shuffling), a file for each printed section."""

from .paper import paper

__all__ = ["paper"]

paper.sections(
    __name__,
    "section_2_1_analyzer",
    "section_3_1_composition",
    "section_4_1_protocol",
    "section_4_2_one_sum",
    "section_4_2_fixed_set",
    "section_4_2_random_set",
    "section_4_3_parameter",
    "section_4_3_constant",
    "section_4_4_accuracy",
    "section_5_1_encoder",
    "section_5_3_real_sum",
    "section_6_1_local",
    "appendix_b_accuracy",
    "appendix_c_parameters",
    "appendix_d_1_pure",
    "appendix_d_1_constant",
    "appendix_d_2_accuracy",
    "appendix_d_2_parameters",
    "section_6_2_applications",
    "appendix_e_inequalities",
    "figures",
)
