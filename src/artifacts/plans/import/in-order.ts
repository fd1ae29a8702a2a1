/** A task in a list whose order counts. */
export interface OrderedTask {
  readonly id: string;
  /** True if it may run beside the tasks around it that are also marked so. */
  readonly isParallel: boolean;
  /** Tasks of different blocks never run side by side. */
  readonly block: string;
  /** Order by a graph in the file, instead of the place in the list. */
  readonly wave?: number | undefined;
}

/**
 * Returns which tasks each one depends on. Tasks run one after the other; those that follow each other in one block
 * and are marked as parallel run side by side, and so do those of one wave.
 */
export function dependenciesInOrder(tasks: readonly OrderedTask[]): Map<string, readonly string[]> {
  const depends = new Map<string, readonly string[]>();
  let before: readonly string[] = [];
  for (const group of groupsOf(tasks)) {
    for (const { id } of group) {
      depends.set(id, before);
    }
    before = group.map(({ id }) => id);
  }
  return depends;
}

function groupsOf(tasks: readonly OrderedTask[]): OrderedTask[][] {
  const groups: OrderedTask[][] = [];
  for (const task of tasks) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && areSideBySide(last, task)) {
      group.push(task);
    } else {
      groups.push([task]);
    }
  }
  return groups;
}

function areSideBySide(a: OrderedTask, b: OrderedTask): boolean {
  if (a.wave !== undefined || b.wave !== undefined) {
    return a.wave === b.wave;
  }
  return a.isParallel && b.isParallel && a.block === b.block;
}

/**
 * Returns what a task depends on by the order of the list and by its own text. What comes before the group of the
 * task is waited for already.
 */
export function withNamed(
  id: string,
  {
    order,
    named,
  }: { readonly order: ReadonlyMap<string, readonly string[]>; readonly named: readonly string[] },
): string[] {
  const before = order.get(id) ?? [];
  const beside = named.filter((other) => {
    const list = order.get(other);
    return (
      other !== id &&
      list?.length === before.length &&
      list.every((each, at) => each === before[at])
    );
  });
  return [...before, ...beside];
}
