"""Words that the project uses no longer, each under the word that stands for the same thing today.

`house/test_vocabulary.py` looks for them in public names, campaign files and outputs, `docs/test_docstrings.py` in
docstrings, `docs/test_printed_texts.py` in what the program prints, `docs/test_prose.py` in pages and templates,
`evidence/test_texts_of_evidence.py` in its texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

VOCABULARY: dict[str, tuple[str, ...]] = {
    "people, or records of a custodian": ("n", "=rows: int"),
    "neighbours": ("=null: str", "add_remove", "=unit: Relation"),
    "failure_probability": ("beta", "gamma", "=failure"),
    "l1_sensitivity, l2_sensitivity": ("=distance", "=squared"),
    "noise_std, noise_scale": ("sigma", "sigmas", "deviation", "averaged"),
    "reserve": ("held_back", "kept_back", "margins"),
    "fixed-transcript audit, endpoint, entry function, public name": ("door", "doors"),
    "transcript, replay": ("walking", "walked"),
    "worst-case neighbours": ("stretching",),
    "full-size run": ("whole_crowds",),
    "side channel": ("overhear", "overhearing", "overheard"),
    "mutant, fault": ("planted", "=mixed", "disguise", "disguises"),
    "unreleased intermediate": ("hidden",),
    "baseline": ("trivial", "blind", "beside"),
    "public randomness, public seed": ("coins",),
    "order statistics": ("contests",),
    "temperature": ("hottest", "coolest"),
    "approximation ratio": ("=grid",),
    "signal model": ("nature",),
    "price per nat": ("nat_price",),
    "largest local loss": ("most_local",),
    "participant, own, their": ("she", "her", "hers", "whom", "whoever"),
    "stated, reported": ("told",),
    "bias": ("leaning", "leanings"),
    "noise that is large enough": ("covering", "veiled"),
    "target that no number of people reaches": ("out_of_reach",),
}
"""Word -> words that stand for the same thing no longer.

A word is forbidden as a part of a name: "beta" in `measured_beta` and in `BetaLaw`. "=" forbids it as the whole name
alone, and a type forbids it for values of that type alone.
"""

IN_ALL_NAMES = ("door", "doors", "overhear", "overhearing", "overheard", "planted", "disguise", "disguises", "she",
                "her", "hers", "whom", "whoever", "told", "leaning", "leanings", "covering", "veiled")
"""Words of `VOCABULARY` that private names and names of tests use no longer either."""

PROSE: dict[str, tuple[str, ...]] = {
    "reserve": (r"held[ -]back", r"kept[ -]back"),
    "add_or_remove": (r"add_remove",),
    "fixed-transcript audit": (r"door audits?",),
    "mutant": (r"planted bugs?",),
    "side channel": (r"overhear\w*",),
    "public randomness": (r"(?:public|published) coins", r"Coins (?:of `\w+` )?are public"),
    "temperature": (r"hottest", r"coolest"),
    "largest local loss": (r"most[ _]local",),
    "price per nat": (r"nat[ _]price",),
}
"""Word -> patterns of words that pages and templates use no longer."""

IN_DOCSTRINGS: dict[str, tuple[str, ...]] = {
    "they, them, their, the participant": (r"[Ss]he", r"[Hh]ers?", r"[Hh]erself", r"[Hh]e", r"[Hh]im", r"[Hh]is",
                                           r"[Hh]imself"),
    "function, entry point": (r"[Dd]oors?",),
    "says, receives, is known": (r"[Tt]old",),
    "bias, tilt": (r"[Ll]ean(?:s|ed|ing)?",),
    "unreleased intermediate": (r"[Hh]idden parts?",),
}
"""Word -> patterns of words that docstrings use no longer, besides those of `PROSE`."""

PEOPLE = (r"(?i:people|persons?|participants?|players?|bidders?|buyers?|peers?|users?|operators?|custodians?|owners?"
          r"|members?|men|women|students?|famil(?:y|ies)|households?|(?:some|any|every)(?:body|one)|nobody)")
"""Words for people, that "whose" does not follow."""

IN_TEXTS: dict[str, tuple[str, ...]] = {
    "they, them, their, the participant": (r"[Ss]he", r"[Hh]ers?", r"[Hh]erself"),
    "a person who, the audience": (r"[Ww]hom",),
    "with, or a sentence of its own": (rf"{PEOPLE},? whose",),
    "function, entry point, operation": (r"[Dd]oors?",),
    "mutant, injected fault": (r"[Pp]lant(?:s|ed|ing)?",),
    "bias, tilt": (r"[Ll]eanings?",),
    "unreleased intermediate": (r"[Hh]idden parts?",),
    "public randomness": (r"public coins",),
}
"""Word -> patterns of words that pages and texts of the evidence use no longer, besides those of `PROSE`."""

IN_PRINTED: dict[str, tuple[str, ...]] = {
    "they, them, their, the participant": IN_DOCSTRINGS["they, them, their, the participant"],
    "a person who, people with": (r"[Ww]hom", r"[Ww]hose", r"[Ww]hoever", r"for who", r"of who"),
    "the cost, the value, the answer: a noun in place of a clause": (
        r"what (?:nobody|everybody|anybody|somebody|(?:is|was|are) (?:promised|published|released|known|done|charged|"
        r"paid|left|given|asked|claimed|said|stored|shared|wrong)|it (?:is|does|costs|asks)|she|he|they|she gets)",
        r"of what", r"by what", r"for what", r"than what", r"beyond what"),
    "a subject before the verb: no clause as a subject": (r"(?:^|(?<=[.:;] ))What [a-z]+ [^?]*[.;]$",
                                                         r"(?:^|(?<=[.:;] ))Who [a-z]+ [^?]*[.;]$"),
    "equally likely at first": (r"even money",),
    "before the run": (r"beforehand",),
    "depends on": (r"rests? on", r"hangs? on"),
    "in reserve": (r"(?:keep|keeps|kept|held|hold) back",),
    "correct, repair": (r"[Mm]end(?:s|ed)?",),
    "mutant": (r"planted",),
    "anyway": (r"all the same",),
}
"""Word -> patterns of words that no text of the program uses any longer, besides those of `PROSE`."""

WALKS = r"[Ww]alk(?:s|ed|ing)?"
"""What a fixed-transcript audit is called no longer; a walk in a network is one."""


def retired(text: str, *tables: dict[str, tuple[str, ...]]) -> Iterator[tuple[int, str]]:
    """Line, and the word with the one that stands for it today."""
    for table in tables:
        for today, words in table.items():
            for match in re.finditer(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])", text):
                yield text[: match.start()].count("\n") + 1, f"{match.group()!r} is {today}"
