import { Type } from "typebox";

/** The header by which a client repeats a request safely. */
export const IdempotencyKey = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      pattern: "^[!-~]{1,255}$",
      description: "a key of 1 to 255 visible ASCII characters",
    }),
  ),
});
