/** Error of one persona file. Never leaves `personas/`: it becomes `persona_invalid`. */
export class PersonaError extends Error {
  override readonly name = "PersonaError";

  constructor(message: string, line: number | null = null) {
    super(line === null ? message : `line ${line}: ${message}`);
  }
}
