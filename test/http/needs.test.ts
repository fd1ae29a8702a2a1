import { expect, it } from "vitest";

import type { AccessRole } from "../../src/core/principal.ts";
import { mayCall, type Need, needOf } from "../../src/http/guards/needs.ts";

const GUEST_AND_UP: readonly AccessRole[] = ["guest", "reader", "owner"];
const ROLES: readonly AccessRole[] = ["guest", "visitor", "reader", "owner"];

/** The roles that may call a route, by what it needs. */
const EXPECTED: Readonly<Record<Need, readonly AccessRole[]>> = {
  nothing: ROLES,
  link: ROLES,
  read: GUEST_AND_UP,
  metrics: GUEST_AND_UP,
  read_private: ["reader", "owner"],
  submit: ["guest", "owner"],
  own: ["owner"],
};

it.each(Object.entries(EXPECTED))("a route that needs %s", (needs, roles) => {
  const route = { method: "POST", config: { needs: needs as Need } };
  expect(ROLES.filter((role) => mayCall(role, route))).toEqual(roles);
});

it("a route that does not say what it needs is the owner's, unless it only reads", () => {
  expect(needOf({ method: "GET" })).toBe("read");
  expect(needOf({ method: ["GET", "HEAD"] })).toBe("read");
  expect(needOf({ method: ["GET", "POST"] })).toBe("own");
  expect(needOf({ method: "DELETE", config: {} })).toBe("own");
});
