import { Component, type ComponentType, type JSX } from "preact";

/** A component that is drawn again only with other properties; signals that it reads still draw it. */
export function memo<Props extends object>(
  Inner: (props: Props) => JSX.Element | null,
): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const [before, after] = [Object.entries(this.props), Object.entries(next)];
      return (
        before.length !== after.length ||
        after.some(([name, value]) => !Object.is(value, Reflect.get(this.props, name)))
      );
    }

    override render(): JSX.Element {
      return <Inner {...this.props} />;
    }
  };
}
