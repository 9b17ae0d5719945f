"""Words of promises of version 0.1.0, with the present words that replaced them. In former words "{}" stands for a
number; the present words name the k-th of these numbers "{k}".
"""

from __future__ import annotations

__all__ = ["PROMISES"]

PROMISES: tuple[tuple[str, str], ...] = (
    # answers
    ("T selections and T Laplace measurements at epsilon/(2T)",
     "in each of T rounds, a selection and a Laplace measurement at epsilon/(2T) each"),
    # means
    ("the largest that any reports can lead to; each contract", "the largest loss for any reports; each contract"),
    ("Reports of sensitivity have no privacy: contracts follow from them",
     "The first reports have no privacy, since contracts follow from them"),
    ("It rests on the noise of the others", "The loss depends on the noise of the other participants"),
    ("while noise is drawn on her side and absence does not hang on offers",
     "if each device draws its own noise and nobody stays away because of the offered contracts"),
    (", with c of the prior", ", and if the prior allows their concern"),
    ("the plan's own expectation is sharper", "the plan's own expected total is more exact"),
    ("a fellow subtracts her own noise", "a fellow participant subtracts their own noise"),
    ("towards a fellow who knows her own noise", "towards a fellow participant who knows their own noise"),
    ("towards all the others together", "towards all other participants together"),
    ("whatever the others report, if each device", "for any reports of the other participants, if each device"),
    ("error of the estimate, where anything is bought", "error of the estimate, if the campaign buys records"),
    ("whatever is reported, while all send who agreed, and all records",
     "for any reports, if everybody who agreed sends a record, and all records"),
    ("a coin, to which payments are rounded up", "the gain comes from rounding payments up to the smallest coin"),
    ("of the total in the mean over the prior, whatever it is", "on average over any prior"),
    # goods
    ("the bidder ends satisfied, which the noise and the bids of all others decide",
     "the bidder ends satisfied, which depends on the noise and on the bids of all other bidders"),
    ("bidders who are still outbid, or out of bids, at the end come on top, with 1 each at most",
     "bidders who are outbid or out of bids at the end add at most 1 each to the loss"),
    ("how much better a bidder with a good would do with another one",
     "the gain of a bidder with a good from another good"),
    ("whether prices are charged or not", "this holds with and without charged prices"),
    ("everybody has her favourite", "everybody has their favourite"),
    ("nobody's good depends on what others report", "nobody's good depends on other people's reports"),
    ("copies that are left of any good with a price", "remaining copies of any good with a price"),
    ("by all bidders who are not left outbid or out of bids", "by all bidders who do not end outbid or out of bids"),
    ("in the mean, whatever the others report; the probability that she ends outbid, out of bids, not admitted or cut "
     "off comes on top, and has no bound",
     "in the mean over the noise, for any reports of the other bidders; the probability that the bidder ends outbid, "
     "out of bids, not admitted or cut off is not included, and has no bound"),
    ("a good that is not worth its final price is not taken; her loss of privacy is not counted",
     "nobody takes a good that is not worth its final price; the loss of privacy is not counted"),
    ("whoever sees her own good, such as its provider, learns it",
     "a person who sees a participant's own good, such as its provider, learns it"),
    ("every bidder whose coin lets her have what she asks for",
     "every bidder who gets the requested good by their public number"),
    ("her coin lets her have what she asks for, which is drawn in the run",
     "the bidder gets the requested good by their public number, which is drawn in the run"),
    ("in the mean, whatever the others report; the probability that her coin does not, which the rates tell "
     "afterwards, comes on top",
     "in the mean over the noise, for any reports of the other bidders; the probability that the bidder does not get "
     "it, which the published rates show after the run, is not included"),
    ("nobody asks for a good that is not worth its price; her loss of privacy is left out",
     "nobody asks for a good that is not worth its price; the loss of privacy is not counted"),
    ("copies of any good given beyond its supply", "the number of given copies of any good beyond its supply"),
    # markets
    ("each person while all others play the same strategy and all hold the design's prior",
     "each person, if all other people play the same strategy and everybody has the prior of the plan"),
    ("each person who knows her own bit and nothing else that explains why bits go together, such as her group, while "
     "all others play the same strategy and hold the design's prior",
     "each person who knows their own bit and nothing else that explains why bits go together, such as their group, if "
     "all other people play the same strategy and have the prior of the plan"),
    ("each person whose cost per nat is at most {}, while all others play the equilibrium and all hold the design's "
     "prior",
     "each person with a cost of at most {1} per nat, if all other people play the equilibrium and everybody has the "
     "prior of the plan"),
    ("of the randomiser that runs on her side, never of the payments; towards everybody",
     "the device of each participant draws the report at this level; the promise holds towards everybody"),
    ("decisions are made from the report;", "decisions are made from the reports;"),
    ("over all channels; the best report that ignores the bit earns {} less",
     "the promise covers every way to report; a report that ignores the answer earns at least {1} less than a truthful "
     "report"),
    ("Not the only equilibrium: everybody reporting the same is one too, and usually pays more",
     "There are other equilibria, such as the same report from everybody, which usually pays more"),
    ("Who knows her group is not among them. Not the only equilibrium: collusive ones pay too",
     "It does not cover people who know their group. There are other equilibria: collusive ones pay too"),
    ("over all channels, and over those up to the ceiling where there is one; nobody dearer gains by taking part. Not "
     "the only equilibrium: everybody reporting the same is one too",
     "the promise covers every way to report, up to the largest level of the campaign; nobody with a higher cost gains "
     "by taking part. There are other equilibria, such as the same report from everybody"),
    ("exact, when all play the equilibrium and take part as expected",
     "exact, if everybody plays the equilibrium and takes part as expected"),
    ("in this equilibrium; largest payment over all", "in this equilibrium; the largest payment is over all"),
    ("in this equilibrium; extreme payments over all", "in this equilibrium; the extreme payments are over all"),
    ("over the coins, whatever the bits, when all take part and play it; of fewer participants it is their own share "
     "that is estimated, and less well",
     "over the devices' randomness, for any bits, if all take part and play the equilibrium; with fewer participants "
     "the estimate is of their own share, with a larger error"),
    ("xi(c) does not exist for all c above the threshold; its conclusion stands",
     "not every cost above the threshold has a level as in the proof; the conclusion stands"),
    ("a ceiling on levels, kept by each person's client", "a ceiling on levels, kept by each participant's device"),
    (" is a floor of quality, the least level of a participant, and protects nobody",
     ", the least level of a participant, keeps reports accurate, and protects nobody"),
    ("in expectation: a participant owes money with probability {} a round, at most {}",
     "on average: a single payment is negative with probability {1}, and never below -{2}"),
    ("N p (Q - T (1 - mu))", "formula of the expected total"),
    ("of the randomiser on her side", "the level of the randomiser on the participant's device"),
    ("levels are unbounded: the cheaper privacy is to her, the higher is hers",
     "levels are unbounded: the lower a person's cost of privacy, the higher their level"),
    ("Taking part shows that her cost is at most the threshold, and her level shows her cost",
     "Taking part shows that a person's cost is at most the threshold, and their level shows the cost"),
    # programs
    ("whoever provides what she gets learns it", "the provider of a participant's part learns this part"),
    ("the value of what she gets, less its price,", "the value of the participant's part, less its price,"),
    ("whatever the others report, where contributions are verified",
     "for any reports of the other participants, if contributions are verified"),
    ("excess of any row, of what is delivered", "excess of the delivered parts over the supply of any row"),
    ("excess of each row, of what is handed out", "excess of each row, for the parts"),
    ("excess of each row, of what was handed out", "excess of each row, for the parts"),
    ("participants who go without because of a flag", "participants who get nothing because of a flag"),
    ("optimum less the value of what is delivered", "optimum less the value of the delivered parts"),
    ("optimum less the value of what is given", "optimum less the value of the delivered parts"),
    ("optimum less the value of what is handed out", "optimum less the value of the parts"),
    ("optimum less the value of what was handed out", "optimum less the value of the parts"),
    ("where the audit accepts it", "if the audit accepts the run"),
    ("in the mean over prices, public coins and the audit",
     "on average over the prices, the public draw and the audit"),
    ("in the mean over the prices and the public coin", "on average over the prices and the public draw"),
    ("in the mean over the public coin", "on average over the public draw"),
    ("of a rounded part in the mean over the coin alone", "of a rounded part on average over the draw alone"),
    ("in the mean over the prices", "on average over the prices"),
    ("a whole part may cost more than it is worth; scaled payments never do",
     "a whole part may cost more than its value; with scaled payments it never does"),
    ("of her average at the charged prices: it may cost alpha more than it is worth",
     "the promise is about the participant's average at the charged prices, which may cost alpha more than its value"),
    ("no bound covers those who get nothing because", "no bound covers participants who get nothing because"),
    # regressions, releases and searches
    ("inequality reversed in print; liars included",
     "the printed inequality is reversed; payments to liars are included"),
    ("2Y sin phi: replacing one record moves",
     "2Y sin phi (R bounds the estimate, Y the answers, and gamma is the ridge): replacing one record moves"),
    ("holds for every data set, whether or not the priors are right; n is public",
     "the promise holds for every data set, whether or not the priors are right; the number of people is public"),
    ("at these sizes the bound is no less than the most that a lie could cost: it would say nothing",
     "at these sizes, the bound on the gain is not below the largest cost of a lie, so it says nothing"),
    ("(predictions up to R0, residuals up to M): no theorem covers that; widen",
     "(predictions up to R0, residuals up to M), and no theorem covers this case: widen"),
    ("players whose privacy cost is at most", "participants with a privacy cost of at most"),
    ("no lie that moves her prediction by more than", "no lie that moves the liar's prediction by more than"),
    ("on average over everybody else's data, split and noise, given one's own record; a small move of the prediction "
     "can be a large lie where the prediction is flat in the answer",
     "the gain is an average over everybody else's data, the split and the noise, for the participant's own record; a "
     "large lie can move the prediction by little, if the prediction hardly depends on the answer"),
    ("nothing useful is proved beforehand at these sizes; read",
     "at these sizes, nothing useful is proved before the run; read"),
    ("what was really paid in all is a function of private records and is not published",
     "the real total depends on private records and is not published"),
    ("of the records with even weights and optimal best responses; the certificate adds what the weights change",
     "the bound is for the records with even weights and optimal best responses; the certificate adds the effect of "
     "the weights"),
    ("one record is replaced by another; how many there are is public",
     "one record is replaced by another, and the number of records is public"),
    ("of the released list as a sequence, not of the time at which it or its next line appears; for graphs whose "
     "degrees are at most d",
     "the promise covers the released list and its order, but not the time at which the list or its next line appears; "
     "it holds for networks in which nobody has more contacts than the public bound"),
    ("of the released list as a sequence, not of the time at which it or its next line appears",
     "the promise covers the released list and its order, but not the time at which the list or its next line appears"),
    ("one protected vertex is rewired", "one protected person's contacts change"),
    ("searches for a component at epsilon each", "searches for a component, each with the epsilon of one search"),
    ("thresholds and selections composed apart", "separate composition of thresholds and selections"),
    ("counts over V minus N[T]; I is shared;",
     "counts cover everybody but found members and their contacts, examined or not; all searches share the examined "
     "people;"),
    ("noise of scale 2 Delta/epsilon (E2, E3, E7)", "noise of scale 2 sensitivity/epsilon"),
    ("noise of scale 2 Delta/epsilon for half of epsilon, and half for the threshold (E2, E3, E7)",
     "noise of scale 2 sensitivity/epsilon for half of epsilon, and half for the threshold"),
)
"""Pairs of former and present words of promises."""
