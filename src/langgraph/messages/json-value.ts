/** A tree of nothing but what JSON knows; members may be undefined. */
export function isJsonValue(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "undefined":
      return true;
    case "object":
      if (value === null) {
        return true;
      }
      if (Array.isArray(value)) {
        return value.every(isJsonValue);
      }
      return isPlainRecord(value) && Object.values(value).every(isJsonValue);
    default:
      return false;
  }
}

/** An object that was written as `{…}`, not made by a class. */
function isPlainRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A copy of a plain tree that shares nothing with it that could change. */
export function cloneJsonValue<T>(value: T): T;
export function cloneJsonValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? [] : value.map((item: unknown) => cloneJsonValue(item));
  }
  // copied whole first: the engine does that in one step
  const clone: Record<string, unknown> = { ...value };
  for (const key in clone) {
    const member: unknown = clone[key];
    if (typeof member === "object" && member !== null && Object.hasOwn(clone, key)) {
      setOwn(clone, key, cloneJsonValue(member));
    }
  }
  return clone;
}

/** `__proto__` is a member like any other: what a model calls its arguments is its own affair. */
function setOwn(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Reflect.defineProperty(record, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  } else {
    record[key] = value;
  }
}

/** True when the first value is still what the second, a plain tree, is in every part. */
export function sameJsonValue(value: unknown, plain: unknown): boolean {
  if (value === plain) {
    return true;
  }
  if (typeof value !== "object" || typeof plain !== "object" || value === null || plain === null) {
    return false;
  }
  if (Array.isArray(plain)) {
    return Array.isArray(value) && sameItems(value, plain);
  }
  return isRecord(plain) && isPlainRecord(value) && sameMembers(value, plain);
}

function sameItems(value: readonly unknown[], plain: readonly unknown[]): boolean {
  if (value.length !== plain.length) {
    return false;
  }
  for (let index = 0; index < plain.length; index += 1) {
    if (!sameJsonValue(value[index], plain[index])) {
      return false;
    }
  }
  return true;
}

function sameMembers(value: Members, plain: Members): boolean {
  // no list of keys is made: a record of each message is compared at every step of a graph
  let left = 0;
  for (const key in value) {
    const member = plain[key];
    if (
      !sameJsonValue(value[key], member) ||
      !(isOwnForSure(member) || Object.hasOwn(plain, key))
    ) {
      return false;
    }
    left += 1;
  }
  for (const _ in plain) {
    left -= 1;
  }
  return left === 0;
}

/** Records inherit only functions and objects; whether a member is their own takes longer to find out. */
function isOwnForSure(member: unknown): boolean {
  return typeof member === "string" || typeof member === "number" || typeof member === "boolean";
}

/** An object of a plain tree that is not a list. */
function isRecord(plain: object): plain is Members {
  return !Array.isArray(plain);
}

type Members = Readonly<Record<string, unknown>>;

/** True for `{}` and what JSON writes like it. */
export function isEmptyRecord(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value.constructor !== Object) {
    return false;
  }
  for (const _ in value) {
    return false;
  }
  return true;
}
