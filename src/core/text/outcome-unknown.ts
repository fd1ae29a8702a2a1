/** The result of a tool call of which it is unknown whether it took effect. */
export const OUTCOME_UNKNOWN =
  "Outcome unknown: the program was stopped before this call's result was stored. It may have taken effect or not; check before you repeat it.";
