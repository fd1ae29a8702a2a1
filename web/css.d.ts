/** A style that is loaded with the part of the page that imports it: `build/page-bundle.ts` makes the module. */
declare module "*.css" {
  export const style: string;
}
