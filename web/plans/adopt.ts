import { adoptStyle } from "../adopt-style.ts";
import { style } from "./plans.css";

adoptStyle(style);
