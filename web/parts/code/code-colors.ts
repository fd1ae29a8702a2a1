import { adoptStyle } from "../../adopt-style.ts";
import { style } from "./code-colors.css";

adoptStyle(style);

export { highlight } from "./highlight.ts";
