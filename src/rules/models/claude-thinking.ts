const NAME = /^claude-(?:opus|sonnet|haiku|fable|mythos)-(\d+)(?:-(\d{1,2}))?(?:-\d{8}|-latest)?$/;

/**
 * True for a Claude model that decides itself how much it thinks (`thinking.type: "adaptive"`): from version 4.6 on.
 * Older models refuse to be asked so, and a name of another form may be that of any server.
 *
 * Source: "Adaptive thinking" of Anthropic's documentation, read on 2026-11-26.
 */
export function thinksAdaptively(model: string): boolean {
  const [, major, minor = "0"] = NAME.exec(model) ?? [];
  return major !== undefined && Number(`${major}.${minor}`) >= 4.6;
}
