"use strict";
const FOLD = null; // the page puts in here how the index folds words

const cls = (text, flags) => new RegExp("[" + text + "]", flags);
const unmarked = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "");

/** Return the words of a text as the index folds them: lower case, no accents, pairs of characters of scripts without blanks. */
function words(text) {
  text = text.normalize("NFKC").replace(/[ßẞ]/g, "ss").replace(cls(FOLD.emoji, "gu"), (sign) => ` emoji${sign.codePointAt(0)} `);
  text = text.replace(cls(FOLD.unseen, "gu"), "").replace(cls(FOLD.marked, "gu"), (char) => (/[\p{Mn}\p{Mc}]/u.test(char) ? "" : char));
  text = text.replace(cls(FOLD.accented, "g"), unmarked).toLowerCase().replace(/[^\u0400-\u04ff]+/g, unmarked).normalize("NFC");
  return text.split(new RegExp(FOLD.run, "u")).flatMap((piece, at) => {
    if (at % 2 === 0) return piece.match(/[\p{L}\p{N}]+/gu) || [];
    const chars = [...piece];
    return [...chars.slice(1).map((char, before) => chars[before] + char), ...chars];
  });
}

/** Return what to look for: all words but the smallest ones, and of a run of characters its pairs. */
function terms(text) {
  const found = words(text);
  const pairs = new Set(found.filter((word) => [...word].length > 1).join(""));
  const kept = found.filter((word) => !FOLD.stop.includes(word) && (word.length > 1 || !pairs.has(word) || /[a-z0-9]/.test(word)));
  return kept.length ? kept : found;
}

// A graph may be larger than its frame: begin at its first node, which is the target or the most linked one.
const frame = document.querySelector("#graph .wide");
if (frame) {
  const node = frame.querySelector(".node").getBoundingClientRect(), edge = frame.getBoundingClientRect();
  frame.scrollBy(node.left - edge.left - frame.clientWidth / 2, node.top - edge.top - frame.clientHeight / 2);
}

const form = document.querySelector("form");
if (form) {
  const field = form.querySelector("input"), told = form.querySelector("output");
  const articles = [...document.querySelectorAll("article")];
  const texts = new Map();
  const textOf = (one) => texts.get(one) || texts.set(one, ` ${words(one.textContent).join(" ")} `).get(one);
  const show = () => {
    const wanted = terms(field.value).map((word) => ` ${word}`);
    for (const one of articles) one.hidden = !wanted.every((word) => textOf(one).includes(word));
    const shown = articles.filter((one) => !one.hidden).length;
    for (const node of document.querySelectorAll(".drawing .node")) {
      const one = document.getElementById((node.getAttribute("href") || "").slice(1));
      node.classList.toggle("other", wanted.length > 0 && (!one || one.hidden));
    }
    for (const drawing of document.querySelectorAll(".drawing")) drawing.classList.toggle("searched", wanted.length > 0);
    told.textContent = wanted.length ? told.dataset.shown.replace("N", shown) : "";
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    document.getElementById("records").scrollIntoView();
  });
  field.addEventListener("input", show);
  addEventListener("hashchange", () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.hidden) {
      field.value = "";
      show();
      target.scrollIntoView();
    }
  });
}
