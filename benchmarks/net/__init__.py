"""The recorded answers: which questions are asked (`cases`), how (`asking`), and brute force on them (`brute`)."""
