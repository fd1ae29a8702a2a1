import { testSize } from "./size.ts";

/** The key of the provider that is asked, and secrets that belong to others. */
export const OWN_KEY = "sk-proj-Zq8Xv2Lm9Rt4Wp7Ks1Nd6Hb3";
export const OTHER_KEY = "sk-ant-api03-Jf5Gy0Ua8Ce2Qo4Vi6Tk";
export const PASSWORD = "hunter2-Tz9-marmot";
export const QUESTION =
  "Please tell my landlord at 12 Elm Street that the third pipe is leaking again today";

/** Returns the part of a text that somebody who decodes it can read, at any length of its pieces. */
const body = OWN_KEY.slice(8);
const pieces = (text: string, length: number, between: string): string =>
  (text.match(new RegExp(`.{1,${length}}`, "g")) ?? []).join(between);
const each = (text: string, form: (code: number) => string): string =>
  Array.from(text, (character) => form(character.charCodeAt(0))).join("");
const unicode = (text: string) => each(text, (code) => `\\u${code.toString(16).padStart(4, "0")}`);

const base64 = (text: string) => Buffer.from(text).toString("base64");
const percent = (text: string) => Buffer.from(text).toString("hex").replace(/../g, "%$&");

/** What a provider writes, and what of it must not be seen anywhere. */
export const ALL_QUOTES: readonly (readonly [text: string, ...secrets: string[]])[] = [
  [`Incorrect API key provided: ${OWN_KEY}.`, OWN_KEY],
  [`Incorrect API key provided: ${OWN_KEY.slice(0, 14)}.`, OWN_KEY.slice(0, 14)],
  [`Incorrect API key provided: ${OWN_KEY.slice(-10)}.`, OWN_KEY.slice(-10)],
  [`Incorrect API key provided: ${OWN_KEY.slice(6, 16)}.`, OWN_KEY.slice(6, 16)],
  [`key ${OWN_KEY.toLowerCase()}`, OWN_KEY.toLowerCase()],
  [`key ${OWN_KEY.slice(8, 20).toUpperCase()}`, OWN_KEY.slice(8, 20).toUpperCase()],
  [`key ${OWN_KEY.slice(0, 9)}\u200b${OWN_KEY.slice(9)}`, OWN_KEY.slice(0, 9), OWN_KEY.slice(9)],
  [`key ${OWN_KEY.slice(0, 12)}\u202e${OWN_KEY.slice(12)}`, OWN_KEY.slice(12)],
  [`key "${OWN_KEY}"`, OWN_KEY],
  [`key=${OWN_KEY}&x=1`, OWN_KEY],
  [`other ${OTHER_KEY}`, OTHER_KEY],
  [`other ${OTHER_KEY.slice(9, 22)}`, OTHER_KEY.slice(9, 22)],
  [`in base64 ${base64(OWN_KEY)}`, base64(OWN_KEY)],
  [`in base64 ${base64(`Bearer ${OWN_KEY}`)}`, base64(OWN_KEY).slice(4, 20)],
  [`in base64 ${base64(`x${OWN_KEY}`).slice(2, 22)}`, base64(`x${OWN_KEY}`).slice(2, 22)],
  [`in base64 ${base64(OTHER_KEY).slice(4, 16)}`, base64(OTHER_KEY).slice(4, 16)],
  [`in hex ${Buffer.from(OWN_KEY).toString("hex")}`, Buffer.from(OWN_KEY).toString("hex")],
  [`encoded ${percent(OWN_KEY)}`, percent(OWN_KEY)],
  [`encoded ${percent(OWN_KEY).toUpperCase()}`, percent(OWN_KEY).toUpperCase()],
  [`encoded ${encodeURIComponent(PASSWORD)}`, PASSWORD],
  [`at https://ada:${PASSWORD}@proxy.example/v1`, PASSWORD],
  ["at https://eve:geheim@proxy.example/v1", "geheim"],
  ["Bearer abcDEF123456ghi is wrong", "abcDEF123456ghi"],
  ["Authorization: Basic YWRhOmxvdmVsYWNl", "YWRhOmxvdmVsYWNl"],
  ["x-api-key: 0f9e8d7c6b5a", "0f9e8d7c6b5a"],
  ["?api_key=qwertz9876&page=1", "qwertz9876"],
  ["your token = tok9876543", "tok9876543"],
  ['{"password":"swordfish99"}', "swordfish99"],
  ["use sk-live-123456789 instead", "sk-live-123456789"],
  ["use gsk_abc123def456 instead", "gsk_abc123def456"],
  ["use AIzaSyD4x9Kq instead", "AIzaSyD4x9Kq"],
  ["account ada.lovelace+test@mail.example is closed", "ada.lovelace"],
  ["session 9f86d081884c7d659a2feaa0c55ad015 is gone", "9f86d081884c7d65"],
  ["data aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ= is bad", "aGVsbG8gd29ybGQ"],
  ["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "eyJhbGciOiJIUzI1NiJ9"],
  // the end alone, or beside a hidden middle
  [`Incorrect API key provided: sk-proj-${"*".repeat(20)}${OWN_KEY.slice(-3)}.`, OWN_KEY.slice(-3)],
  [`Incorrect API key provided: sk-pr...${OWN_KEY.slice(-4)}.`, OWN_KEY.slice(-4)],
  [
    `Incorrect API key provided: \u2022\u2022\u2022\u2022${OTHER_KEY.slice(-2)}`,
    OTHER_KEY.slice(-2),
  ],
  [`the key that ends in ${OWN_KEY.slice(-5)} is not valid`, OWN_KEY.slice(-5)],
  [`in base64 …${base64(OWN_KEY).slice(-6)}`, base64(OWN_KEY).slice(-6)],
  [`in base64 ${base64(OWN_KEY).slice(-8)}`, base64(OWN_KEY).slice(-8)],
  [`in base64 ${base64(`Bearer ${OTHER_KEY}`).slice(-7)}`, base64(`Bearer ${OTHER_KEY}`).slice(-7)],
  // escapes, also in escapes
  [`key ${unicode(body)}`, unicode(body).slice(12, 36)],
  [`key ${unicode(body).replaceAll("\\", "\\\\")}`, unicode(body).slice(13, 18)],
  [`key ${each(body, (code) => `\\x${code.toString(16)}`)}`, "\\x5a\\x71"],
  [`key ${each(body, (code) => `&#${code};`)}`, "&#90;&#113;"],
  [`key ${each(body, (code) => `&amp;#x${code.toString(16)};`)}`, "#x5a;&amp;#x71"],
  [`key ${percent(body).replaceAll("%", "%25")}`, "%255a%2571"],
  [`key ${body.replace(/../g, (two) => percent(two[0] ?? "") + (two[1] ?? ""))}`, "%5aq%38X"],
  [`{"type":"Buffer","data":[${each(body, (code) => `${code},`)}10]}`, "90,113"],
  ["Bearer%20abcDEF123456ghi is wrong", "abcDEF123456ghi"],
  ["?api_key%3Dqwertz9876%26page", "qwertz9876"],
  ["\\u0022password\\u0022:\\u0022swordfish99", "swordfish99"],
  // over several lines or strings, with signs between, or in another alphabet's form
  [`key ${pieces(body, 7, "\n")}`, body.slice(0, 7), body.slice(7, 14)],
  [`key ${pieces(body, 4, "\r\n\t")}`, body.slice(0, 4), body.slice(8, 12)],
  [`key ${pieces(body, 6, '" + "')}`, body.slice(0, 6)],
  [`key ${pieces(body, 3, "\u0301")}`, `${body.slice(0, 3)}\u0301`],
  [`key ${pieces(body, 3, "\u3164")}`, `${body.slice(0, 3)}\u3164`],
  [`key ${each(body, (code) => String.fromCharCode(code + 0xfee0))}`, "\uff3a\uff51"],
  [`in hex ${pieces(Buffer.from(body).toString("hex"), 2, " ")}`, "71 38 58"],
  [`in hex ${pieces(Buffer.from(body).toString("hex").toUpperCase(), 2, ":")}`, "71:38:58"],
  [`in base64 ${pieces(base64(body), 5, "\n")}`, base64(body).slice(5, 10)],
  [`password ${pieces(PASSWORD, 5, "\n")}`, PASSWORD.slice(0, 5)],
  [`you wrote: ${unicode(QUESTION)}`, unicode("Elm")],
  [`you wrote: ${QUESTION.toUpperCase()}`, "12 ELM STREET"],
  [`you wrote: ${QUESTION}`, "12 Elm Street"],
  [`you wrote: ${JSON.stringify(QUESTION.slice(7))} and more`, "12 Elm Street"],
  [`you wrote: ${QUESTION.replaceAll(" ", "\n")}`, "Elm"],
  [`${"x ".repeat(140)}${OWN_KEY}`, OWN_KEY.slice(0, 9)],
  [`${"x ".repeat(3000)}${OWN_KEY}`, OWN_KEY.slice(0, 9)],
  ["\u001b]0;owned\u0007\u001b[31mred\r\nsecond line", "\u001b", "\n", "\r"],
];

/** Part of the quotes, from all kinds, that this run uses. */
export const QUOTES = ALL_QUOTES.filter(
  (_, index) =>
    index % Math.max(1, Math.floor(ALL_QUOTES.length / testSize("quoted-secrets"))) === 0,
);
