/** What is wrong with one persona file. Never leaves `personas/`: it becomes `persona_invalid`. */
export class PersonaFault extends Error {
  override readonly name = "PersonaFault";

  constructor(message: string, line: number | null = null) {
    super(line === null ? message : `line ${line}: ${message}`);
  }
}
