/** A tree of nothing but what JSON knows; members may be undefined. */
export function isPlain(value: unknown): boolean {
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
        return value.every(isPlain);
      }
      return isPlainRecord(value) && Object.values(value).every(isPlain);
    default:
      return false;
  }
}

/** An object that was written as `{…}`, not made by a class. */
export function isPlainRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A copy of a plain tree that shares nothing with it that could change. */
export function clonePlain<T>(value: T): T;
export function clonePlain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? [] : value.map((item: unknown) => clonePlain(item));
  }
  const clone: Record<string, unknown> = {};
  for (const key in value) {
    if (Object.hasOwn(value, key)) {
      const member: unknown = Reflect.get(value, key);
      clone[key] = typeof member === "object" ? clonePlain(member) : member;
    }
  }
  return clone;
}

/** True when the first value is still what the second, a plain tree, is in every part. */
export function samePlain(value: unknown, plain: unknown): boolean {
  if (value === plain) {
    return true;
  }
  if (Array.isArray(plain)) {
    return (
      Array.isArray(value) &&
      value.length === plain.length &&
      plain.every((item, index) => samePlain(value[index], item))
    );
  }
  return isPlainRecord(value) && isPlainRecord(plain) && sameMembers(value, plain);
}

function sameMembers(value: Record<string, unknown>, plain: Record<string, unknown>): boolean {
  const keys = Object.keys(plain);
  return (
    Object.keys(value).length === keys.length &&
    keys.every((key) => Object.hasOwn(value, key) && samePlain(value[key], plain[key]))
  );
}
