/**
 * Lines that name the line before them: a person who goes back and asks differently begins a branch. The history is
 * the branch that ends with the last line.
 */
export class Branch {
  readonly #parents = new Map<string, string | null>();
  readonly #order: string[] = [];
  #last: string | null = null;

  /** Adds a line. `isEnd` is true if a branch may end with it. */
  add(id: string, parent: string | null, isEnd: boolean): void {
    if (!this.#parents.has(id)) {
      this.#order.push(id);
      this.#parents.set(id, parent);
    }
    if (isEnd) {
      this.#last = id;
    }
  }

  /** Returns the ids of the branch. If a line before is missing, what the file has before it belongs to it. */
  ids(): ReadonlySet<string> {
    const kept = new Set<string>();
    let at = this.#last;
    while (at !== null && !kept.has(at)) {
      kept.add(at);
      const parent: string | null = this.#parents.get(at) ?? null;
      if (parent !== null && !this.#parents.has(parent)) {
        const before = this.#order.indexOf(at);
        for (const id of this.#order.slice(0, before)) {
          kept.add(id);
        }
        break;
      }
      at = parent;
    }
    return kept;
  }
}
