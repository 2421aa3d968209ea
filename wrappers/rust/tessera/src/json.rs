// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The subset of JSON that the ABI uses: texts, and lists and objects of texts.

use crate::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => write!(quoted, "\\u{:04x}", c as u32).expect("a String grows"),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// An array of the texts.
pub(crate) fn quote_list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(quote).collect();
    format!("[{}]", quoted.join(","))
}

/// An object of the texts.
pub(crate) fn quote_map(texts: &BTreeMap<String, String>) -> String {
    let pairs: Vec<String> =
        texts.iter().map(|(key, text)| format!("{}:{}", quote(key), quote(text))).collect();
    format!("{{{}}}", pairs.join(","))
}

pub(crate) fn texts(json: &str) -> Result<BTreeMap<String, String>> {
    object(&mut json.chars())
        .ok_or_else(|| Error::refused(ErrorKind::Io, "the metadata is no object of texts"))
}

/// The texts of a JSON array.
pub(crate) fn list(json: &str) -> Result<Vec<String>> {
    array(&mut json.chars())
        .ok_or_else(|| Error::refused(ErrorKind::Io, "expected an array of texts"))
}

type Chars<'a> = std::str::Chars<'a>;

fn next(chars: &mut Chars<'_>) -> Option<char> {
    chars.find(|c| *c != ' ')
}

fn object(chars: &mut Chars<'_>) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    if next(chars)? != '{' {
        return None;
    }
    loop {
        match next(chars)? {
            '}' => return Some(found),
            ',' if !found.is_empty() => {}
            '"' => {
                let key = string(chars)?;
                if next(chars)? != ':' || next(chars)? != '"' {
                    return None;
                }
                found.insert(key, string(chars)?);
            }
            _ => return None,
        }
    }
}

fn array(chars: &mut Chars<'_>) -> Option<Vec<String>> {
    let mut found = Vec::new();
    if next(chars)? != '[' {
        return None;
    }
    loop {
        match next(chars)? {
            ']' => return Some(found),
            ',' if !found.is_empty() => {}
            '"' => found.push(string(chars)?),
            _ => return None,
        }
    }
}

/// The text after an opening quote, up to the closing one.
fn string(chars: &mut Chars<'_>) -> Option<String> {
    let mut units: Vec<u16> = Vec::new();
    loop {
        let unit = match chars.next()? {
            '"' => return String::from_utf16(&units).ok(),
            '\\' => match chars.next()? {
                'n' => 10,
                't' => 9,
                'r' => 13,
                'b' => 8,
                'f' => 12,
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    u16::from_str_radix(&digits, 16).ok()?
                }
                c => c as u16,
            },
            c => {
                units.extend(c.encode_utf16(&mut [0; 2]).iter());
                continue;
            }
        };
        units.push(unit);
    }
}

#[cfg(test)]
mod tests {
    use super::{list, quote, texts};
    use std::collections::BTreeMap;

    #[test]
    fn texts_come_back_as_they_went() {
        let text = "\"quoted\" \\ \u{0}\u{1f}\n\t \u{e9} \u{1f600}";
        let object = format!("{{{}:{}}}", quote("k\"ey"), quote(text));
        assert_eq!(texts(&object).unwrap(), BTreeMap::from([("k\"ey".into(), text.into())]));
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(list(r#"["a", "\u00e9"]"#).unwrap(), ["a", "\u{e9}"]);
        assert!(list("[]").unwrap().is_empty());
        assert!(list("{}").is_err() && list("[1]").is_err() && list("[").is_err());
    }

    #[test]
    fn escapes_of_others_are_read() {
        let object = r#"{ "a" : "\u00e9\ud83d\ude00\/\b\f\r" , "b":"" }"#;
        let found = texts(object).unwrap();
        assert_eq!(found["a"], "\u{e9}\u{1f600}/\u{8}\u{c}\r");
        assert_eq!((found.len(), found["b"].as_str()), (2, ""));
        assert!(texts("{}").unwrap().is_empty());
    }

    #[test]
    fn what_is_no_object_of_texts_is_an_error() {
        for wrong in
            ["", "[]", "{", "{\"a\":1}", "{\"a\"}", "{\"a\":\"b\"", "{\"a\":\"\\ud800\"}", "{,}"]
        {
            assert!(texts(wrong).is_err(), "{wrong}");
        }
    }
}
