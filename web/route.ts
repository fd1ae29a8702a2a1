import { computed, signal } from "@preact/signals";

/** Which page an address is of. */
export type Route =
  | { readonly page: "list" | "plans" | "service" | "costs" | "login" | "unknown" }
  | { readonly page: "session" | "shared"; readonly id: string };

/** The part of an address that the page reads. `path` is without the base: it begins with a slash. */
export interface Place {
  readonly path: string;
  /** Empty, or with its question mark. */
  readonly search: string;
  /** Empty, or with its number sign. */
  readonly hash: string;
}

/** The path under which the service is reached, with a slash at both ends: `/`, or `/reprise/` after a proxy. */
export const base = baseOf(document.querySelector("meta[name=reprise-base]"));

/** Where the reader is. Changes with `go`, links, and the browser's own buttons. */
export const place = signal(readPlace());

export const route = computed(() => routeOf(place.value.path));

/** The query of the address. */
export const query = computed(() => new URLSearchParams(place.value.search));

addEventListener("popstate", () => {
  place.value = readPlace();
});
addEventListener("hashchange", () => {
  place.value = readPlace();
});

/** Goes to a path of the page, such as `/plans` or `/?title=rent`. With `replace`, the way back skips the page that the reader leaves. */
export function go(path: string, options: { readonly replace?: boolean } = {}): void {
  const address = hrefOf(path);
  if (options.replace === true) {
    history.replaceState(history.state, "", address);
  } else {
    keepTop();
    history.pushState(null, "", address);
  }
  place.value = readPlace();
}

/** Keeps with this page of the history how far it is scrolled. */
export function keepTop(): void {
  history.replaceState({ top: scrollY }, "");
}

/** How far it was scrolled when it was left, in pixels; 0 if it is new. */
export function keptTop(): number {
  const { top } = { top: 0, ...(history.state as { readonly top?: unknown } | null) };
  return typeof top === "number" ? top : 0;
}

/** Changes parameters of the query in place; null removes one. Other pages of the history stay. */
export function changeQuery(change: Readonly<Record<string, string | null>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === "") {
      next.delete(name);
    } else {
      next.set(name, value);
    }
  }
  const search = next.size === 0 ? "" : `?${next.toString()}`;
  go(`${place.value.path}${search}${place.value.hash}`, { replace: true });
}

/** The address of a path of the page, as links and `history` take it. */
export function hrefOf(path: string): string {
  // two slashes in front would name another host
  return `${base}${path.replace(/^\/+/, "")}`;
}

/** The page of a path without the base; `unknown` for none of them. */
function routeOf(path: string): Route {
  const [first = "", second, ...rest] = path.replace(/^\/|\/$/g, "").split("/");
  if (rest.length > 0) {
    return { page: "unknown" };
  }
  if (second !== undefined) {
    const id = decoded(second);
    const page = first === "sessions" ? "session" : first === "shared" ? "shared" : null;
    return page === null || id === null || id === "" ? { page: "unknown" } : { page, id };
  }
  const page = first === "" ? "list" : first;
  return page === "list" ||
    page === "plans" ||
    page === "service" ||
    page === "costs" ||
    page === "login"
    ? { page }
    : { page: "unknown" };
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

function readPlace(): Place {
  const { pathname, search, hash } = location;
  // the address of the service may be written without the slash at its end
  const whole = `${pathname}/` === base ? base : pathname;
  const path = whole.startsWith(base) ? whole.slice(base.length - 1) : whole;
  return { path, search, hash };
}

function baseOf(meta: Element | null): string {
  const content = meta?.getAttribute("content") ?? "/";
  return content.endsWith("/") ? content : `${content}/`;
}
