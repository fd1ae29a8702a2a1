import type { ButtonHTMLAttributes, ComponentChildren, JSX } from "preact";

interface ButtonProps extends Omit<ButtonHTMLAttributes, "class" | "icon"> {
  /** `danger` for what cannot be taken back. */
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly disabled?: boolean;
  readonly type?: "button" | "submit";
  readonly children: ComponentChildren;
}

/** A button; without `type="submit"` it sends no form. */
export function Button({ kind = "plain", type = "button", ...rest }: ButtonProps): JSX.Element {
  return <button {...rest} type={type} class={`button ${kind}`} />;
}
