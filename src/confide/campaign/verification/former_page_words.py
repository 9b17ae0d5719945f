"""Sentences of result pages of version 0.1.0, with the present sentences that replaced them. In former sentences "{}"
stands for a number; the present sentences name the k-th of these numbers "{k}".
"""

from __future__ import annotations

from confide.campaign.verification.former_promise_words import PROMISES

__all__ = ["PAGES"]

PAGES: tuple[tuple[str, str], ...] = (
    ("Privacy: when one person's record is replaced by any other, and everybody else compares all that they get and "
     "see. Whoever provides what she gets learns it.",
     "The promise of privacy is about one person's record, which is replaced by any other record, and about everything "
     "that all other people get and see together. The provider, who delivers the parts, learns each person's part. "
     "The billboard is everything that the campaign publishes."),
    *PROMISES,
    *((former[0].upper() + former[1:], now[0].upper() + now[1:]) for former, now in PROMISES),
    (", but with probability", ", except with probability"),
    ("How much it hides you", "How much the campaign hides about you"),
    ("rounds; bids of one person at most", "rounds; largest number of bids of one person"),
    # markets
    ("least that any market without fines could pay",
     "lower bound on the expected payment in any market without fines"),
    ("what the level costs her, as everybody believes\t",
     "cost of this privacy loss to one person, by the common belief\t"),
    ("what any report that ignores her answer earns less\t",
     "least loss from a report that ignores the answer, compared with a truthful report\t"),
    ("when all take part: a report that meets the majority is paid\t",
     "when all take part: payment for a report with the majority\t"),
    ("; any other nothing", "; nothing for any other report"),
    ("largest single payment, whoever takes part\t", "largest single payment, for any number of participants\t"),
    ("The best reply still depends on the answer while the prior is off by less than {}, or the signal accuracy by "
     "less than {}, with everybody else playing the level that was bought.",
     "While everybody else reports at the level of the plan, the best report still depends on the answer if the prior "
     "probability is wrong by less than {1}, or if the signal accuracy is wrong by less than {2}."),
    ("Your device reports your answer as it is with a probability of",
     "Your device reports your true answer with a probability of"),
    (", and the other one otherwise.", ", and the other answer otherwise."),
    ("  without asking anybody\t", "  probability of a wrong guess without any reports\t"),
    ("at the start and get it back together with your payment, so that you never owe anything.",
     "at the start. You get it back together with your payment, so you never owe anything."),
    ("You leave {}", "You leave a deposit of {1}"),
    ("Why it pays to take part and to let your device do what it says: if everybody else does, you expect",
     "Taking part with your device's report pays. If everybody else does the same, you expect"),
    ("Why it pays to take part and to let your device do what it says: reports that agree with those of your peers are "
     "paid, so that you expect",
     "Taking part with your device's report pays. Reports that agree with those of your peers are paid. If "
     "everybody else does the same, you expect"),
    (" if everybody else does the same, and any other way of reporting earns less, once the privacy that it costs is "
     "counted at",
     ". Any other way to report earns less, if the privacy that you lose by this report costs you"),
    (", and any other way of reporting earns less than that, once the privacy that it costs is counted at",
     ". Any other way to report earns less, if the privacy that you lose by this report costs you"),
    (" for this level. A report that meets the majority of the others is paid; how much follows from",
     ". A report with the majority of the other reports is paid. The amount follows from"),
    (" for this level. This holds for who knows her own answer, and not why her peers' answers are like hers.",
     ". This holds if you know your own answer, and do not know why your peers' answers are like "
     "yours."),
    ("with the majority of the others\tagainst it", "with the majority of the other reports\tagainst this majority"),
    ("taking part is worth it up to this worth of a nat\t",
     "taking part is worthwhile if a nat of privacy costs a person at most\t"),
    ("when as many take part: a report with the majority, and against it\t",
     "payment if the expected number takes part: for a report with the majority, and against it\t"),
    ("a participant owes money with probability\t", "probability that a participant's payment is negative\t"),
    ("When {} take part, as expected; with others it follows from the public counts. Below 0 is what you owe.",
     "These are the amounts if {1} people take part, as expected. With another number, the public counts give the "
     "amounts. A negative amount is taken from your deposit."),
    ("a report that agrees with a peer's is paid, on average over her peers\t",
     "payment for a report that agrees with a peer's, on average over all peers\t"),
    (" will be known to within, with probability {}%\t", ", with probability {1}%\t"),
    ("the share of yes, with probability", "largest error of the share of yes, with probability"),
    ("the share of 1, with probability", "largest error of the share of 1, with probability"),
    ("correlation of two people's bits, as everybody believes\t",
     "correlation of two people's bits, by the common belief\t"),
    ("Warning: truth pays only those who do not know their own group; of those who know it, members of {} of {} groups "
     "do best with one and the same report.",
     "Warning: truth pays only people who do not know their own group: in {1} of {2} groups, members who know their "
     "group do best with one fixed report."),
    ("Your report is at most e^{} = {} times as likely under one answer as under the other. Who must guess your "
     "answer, even money beforehand, is right at most {}% of the time.",
     "Example: somebody thinks at first that both answers are equally likely. They see your report and guess your "
     "answer. They are right at most {3}% of the time. They can learn which answer is more likely. They cannot learn "
     "your answer for certain: people with one answer send a report at most {2} times as often as people with the "
     "other answer. In the words of the field, your privacy loss is at most epsilon = {1}, and e^{1} = {2}."),
    ("rounds on fresh questions until nobody owes, all in all, but one in twenty\t",
     "number of new questions after which a participant's sum of payments is negative with probability at most 0.05\t"),
    ("least level of a participant, a floor of quality\t",
     "least level of a participant, for the quality of reports\t"),
    # goods
    ("of what any allocation could have given them. Their", "of the largest welfare of any allocation. Their"),
    ("what they write\t", "form of a row\t"),
    ("; what is left out is worth nothing, as 0 is", ". An empty cell is worth nothing, like the number 0"),
    ("an order of the goods, ties allowed; places are worth ",
     "an order of the goods, in which several goods may have the same rank. The values of ranks 1, 2, and so on are "),
    (", what is left out nothing", ". Omitted goods are worth nothing"),
    ("what is done\t", "method\t"),
    ("from one price to the next, as a share", "price step, as a share"),
    ("as a share of the highest total\t", "as a share of the highest total value of goods\t"),
    ("people who bid between two releases; releases\t",
     "people who bid between two publications of the counts; publications\t"),
    ("noises drawn\t", "number of noise draws\t"),
    ("E: no published count is off by more, except with probability",
     "E, largest error of any published count, except with probability"),
    ("E: no published count is off by more, but with probability",
     "E, largest error of any published count, except with probability"),
    ("probability that some good is given more often than there are copies\t{}: then they are given all the same, from "
     "a stock",
     "probability that the run gives more copies of a good than there are\t{1}; the operator then hands out copies "
     "from a stock"),
    ("public certificate of welfare\t{}% of epsilon, but wrong with probability",
     "share of epsilon for the public certificate of welfare\t{1}%; the certificate is wrong with probability"),
    ("where goods are handed out without asking anybody\t", "for a hand-out without any reports\t"),
    ("Warning: hardly more is predicted than where nobody is asked, or less: {}% beside {}% for the same made-up "
     "people. A larger epsilon or more copies of each good help.",
     "Warning: the predicted welfare, {1}%, is hardly better or even worse than the welfare without any reports, {2}% "
     "for the same synthetic people. Choose a larger epsilon, or offer more copies of each good."),
    ("Your device bids for you, by what you wrote, in up to", "Your device bids for you from your row, in up to"),
    ("In your turn of a round it lets go of goods after which more bids were counted than there are copies, and it "
     "bids on one more, the one that adds most above its price to what you hold, or on none where nothing does. You "
     "hold {} at most, and bid {} times at most.",
     "In each round, your device has one turn. It first gives up each good on which more bids were counted after yours "
     "than there are copies. Then it bids on the good with the largest added value for you after its price is "
     "subtracted, or on none if no added value is above the price. You hold at most {1} of the goods at a time, and "
     "bid at most {2} times."),
    ("Each time that you hold no good, it bids on the one that is worth most to you above its price, and on none where "
     "no price suits you; at most {} times. You are outbid when more bids were counted",
     "When you hold no good, your device bids on the good with the largest value above its price to you. It does not "
     "bid if no good is worth its price, and it bids at most {1} times. You are outbid when more bids are counted"),
    ("{} releases of noisy demand, from which prices follow, and a public lottery where too many ask",
     "prices from {1} releases of noisy demand, and a public lottery if too many people ask for a good"),
    ("noisy sums of what everybody would take. At the last prices your device asks for the good that is worth most to "
     "you above its price, or for none.",
     "noisy sums of everybody's demand. At the last prices, your device asks for the good with the largest value above "
     "its price to you, or for none."),
    ("without asking anybody\t", "without any reports\t"),
    ("and each gets one of them at most.", "and each gets at most one good."),
    ("and each gets up to {} of them.", "and each gets up to {1} goods."),
    ("Of the goods that there are, you get up to {} of them, by what everybody wrote.",
     "You get up to {1} goods. Everybody's rows decide which."),
    ("bids and {} goods each", "bids and {1} of the goods each"),
    # means
    ("largest local loss of a person, on average\t",
     "largest local loss (towards the operator) in one set of reports, on average\t"),
    ("largest central loss of a person, on average\t",
     "largest central loss (towards the public) in one set of reports, on average\t"),
    (" nats at order {}", " nats (Renyi divergence of order {1})"),
    ("a contract may cost {} nats towards the platform,",
     "a contract may allow a loss of {1} nats towards the operator,"),
    ("share of profiles of reports in which anything is bought\t",
     "share of the simulated sets of reports for which the campaign buys records\t"),
    ("largest that any reports can lead to, where anything is bought\t",
     "largest error for any reports, if the campaign buys records\t"),
    ("of guessing the middle of the range, at most\t",
     "largest possible error without records, if the middle of the range is the guess\t"),
    ("largest that any reports can lead to: what is charged\t",
     "largest local loss for any reports, charged to the ledger\t"),
    ("largest that any reports can lead to\t", "largest central loss for any reports\t"),
    ("profiles of reports, made up from the belief in the campaign file; the rest holds whatever is reported.",
     "simulated sets of reports that follow the belief in the campaign file. All other figures hold for any reports."),
    ("of whoever is asked for a record, on average\t", "for a person who is asked for a record, on average\t"),
    ("of whoever is not asked, or sends nothing\t", "for a person who is not asked, or sends nothing\t"),
    ("of anybody, at most\t", "for anybody, at most\t"),
    ("what is known already is cheaper than the mean", "guessing without any records costs less than buying the mean"),
    ("You are asked first how you fear two leaks, as one number",
     "First, you are asked how much you fear a leak to the operator, compared with a leak to the public. You answer "
     "with one number,"),
    (". 1: what the operator learns of you is all you fear. 0: what the public learns is. It is no secret: the "
     "operator sees it, and everybody's contract follows from everybody's number.",
     ". 1 means that you fear only the operator's knowledge about you. 0 means that you fear only the public's "
     "knowledge about you. The number is not secret: the operator sees it, and each contract depends on "
     "everybody's numbers."),
    ("On a contract that you agreed to you are asked:", "Second, if you agreed to a contract, you are asked:"),
    ("? A number from {} to", "? You give a number from {1} to"),
    (". Your device adds the noise before it leaves; the number itself stays with you.",
     ". Your device adds noise to the number and sends the sum. The number itself stays with you."),
    ("Losses are Renyi divergences of order {}. Towards the operator at most {} nats, towards the public at most {}, "
     "and your contract says how much it is for you: usually less.",
     "Your privacy loss towards the operator is at most {2} nats, and towards the public at most {3} nats (Renyi "
     "divergence of order {1}). Your contract states your own losses, which are usually smaller."),
    ("A contract, signed. It says how much noise your own device adds to your record, how much the record weighs in "
     "the mean, what the operator and the public can learn of it at most, and what you are paid. You agree or decline "
     "before anything else is sent. On average {} of {} are asked for a record; the others are paid nothing.",
     "You get a signed contract. It states your payment, the noise that your device adds, the weight of your record in "
     "the mean, and your largest losses towards the operator and the public. You agree or decline before your device "
     "sends a record. On average, {1} of {2} people are asked for a record. The others are paid nothing."),
    # answers
    ("(how many sets, the tables of every column decide, once noisy)",
     "(the noisy one-way tables decide the number of sets)"),
    ("a histogram that {} noisy answers, chosen by how wrong it is, have shaped",
     "a histogram that is fitted to {1} noisy answers, each to a question on which it was far off"),
    ("what it does\t", "description of the method\t"),
    ("Everything here follows from public parameters. Errors", "All figures follow from public parameters. Errors"),
    ("Privacy holds for every table; what is predicted is no promise.",
     "Privacy holds for every table. Predicted errors are no promise."),
    ("beyond the noise it depends on how columns hang together, which nothing public tells",
     "apart from the noise, the error depends on the relation between columns, which is not public"),
    ("Nothing is asked of you. A custodian holds a table", "You report nothing. A custodian holds a table"),
    ("what a missing or unusable record counts as\t", "null record, which replaces a missing or unusable record\t"),
    ("none that says anything at these sizes (", "no useful bound at these sizes ("),
    (", but for a probability of", ", except with probability"),
    ("Answers are multiples of 1/{}: the release has so many records.",
     "Answers are multiples of 1/{1}, since the release has {1} records."),
    ("Synthetic rows: rows.parquet holds {}. They answer the queries about as the table of answers does, as far as "
     "their number allows; no row is anybody's.",
     "The file rows.parquet holds {1} synthetic rows. The answers of these rows to the queries are close to the table "
     "of answers, as far as the number of rows allows. No row belongs to a person."),
    ("Answers to {} questions of the kind", "The custodian publishes answers to {1} questions of the kind"),
    (", each of them blurred, and {} made-up rows that answer like the table. No row is anybody's.",
     ". Noise changes every answer. The custodian also publishes {1} synthetic rows with similar answers. No published "
     "row is a person's record."),
    (", each of them blurred. No row is anybody's.",
     ". Noise changes every answer."),
    # programs
    ("The averages' load is above what a row holds by", "The averages' load is above the supply of a row by"),
    ("Who got what, and how much is used of a row, is not public.",
     "The shares of single participants are not public, and neither is the use of a row."),
    ("within supply in every row; that none is above it holds with probability",
     "within supply in every row. No row is above its supply, with probability"),
    ("Who came later and would add to one of them has nothing. That is at most",
     "Later participants with a part in one of these rows get nothing. These are at most"),
    ("what is shared\t", "shared resources\t"),
    ("rows that limit it, and what they hold\t", "rows that limit the resources, and their supplies\t"),
    ("what they hand in\t", "form of a record\t"),
    ("expected excess of all rows together, of the averages\t",
     "expected excess of all rows together, for the averages\t"),
    ("what the certificate will claim, with probability {}, as a share of what rows hold\t",
     "excess in the certificate, with probability {1}, as a share of the supplies\t"),
    ("Warning: prices may not arrive in so few rounds, and the certificate will say so: burn_in = {} and rounds = {} "
     "would do.",
     "Warning: the prices may not settle in so few rounds. If they do not settle, the certificate states this. The "
     "settings burn_in = {1} and rounds = {2} give the prices enough rounds."),
    ("; and how many slots of each interval you need,", ". Also how many slots of each interval you need,"),
    ("{}% of excess may be claimed\tbut for noise\t", "excess of up to {1}%\texcept for noise\t"),
    ("% kept back\t", "% in reserve\t"),
    ("\tnothing is promised", "\tno promise"),
    ("The rows that limit it: ", "The supplies are: "),
    ("Your part of what is shared: ", "You get your part of the shared resources: "),
    ("whoever could gain more than this at the charged prices gets her favourite\t",
     "alpha: a participant gets another choice if, at the charged prices, it is better by more than\t"),
    ("kept back of what rows hold\t", "share of each supply in reserve\t"),
    ("would keep back all that a row holds: row", "would reserve the whole supply of a row: row"),
    ("would keep back {} times its supply", "would reserve {1} times its supply"),
    ("In an unlucky draw what you get may cost you up to", "In an unlucky draw, your part can cost you up to"),
    ("more than it is worth to you.", "more than its value to you."),
    ("share of the squared budget for the audit\t", "share of the squared privacy loss for the audit\t"),
    ("people between two looks at the flags\t", "people between two queries of the flags\t"),
    ("no, but with probability", "no, only with probability"),
    ("no, except with probability", "no, only with probability"),
    ("by round, {} of them before those that count, which end at",
     "by round. The first {1} rounds do not count. The prices end at"),
    # regressions
    ("To whom: to the public, and to all other participants together, who see their own payments too (joint",
     "The promise is made towards the public, and towards all other participants together, who also see their own "
     "payments (joint"),
    ("What was really paid depends on private records; it is the operator's and is not published.",
     "The real total depends on private records. Only the operator knows it, and it is not published."),
    ("if everybody were predicted at the center, at most\t",
     "largest possible error without records, if the middle of the range is the prediction\t"),
    *((former.replace("EUR", currency), now.replace("EUR", currency)) for currency in ("EUR", "USD", "GBP")
      for former, now in (
        ("a typical payment; nine in ten lie between\t{} EUR; {} EUR and ",
         "typical payment; range of 9 in 10 payments\t{1} EUR; {2} EUR to "),
        ("At most {} EUR, by whether your report agrees with those of others.",
         "You get at most {1} EUR. The amount depends on whether your report agrees with other people's reports."),
        ("every payment lies between\t{} EUR and ", "range of every payment\t{1} EUR to "),
        ("Who should take part: if a nat of privacy is worth at most {} EUR to you, taking part pays on average, and "
         "the less it is worth the more you gain; otherwise stay away. Your device asks what it is worth to you, "
         "chooses the level that is best for you, from {} up to {}, and tells nobody. A report with the majority of "
         "the others is paid, one against it costs you. The operator sees that you took part, and so that privacy is "
         "worth no more than that to you.",
         "A nat is the unit of privacy loss. At a loss of 1 nat, people with one answer send your report at most e = "
         "2.72 times as often as people with the other answer. Take part if a nat is worth at most {1} EUR to you. On "
         "average, your payment is then at least the value of the privacy that you lose. You gain more if a nat is "
         "worth less to you. If a nat is worth more to you, stay away. Your device asks you for the value of a nat and "
         "chooses the best loss for you, from {2} to {3} nats. Your device tells nobody the value or the loss. You are "
         "paid for a report with the majority of the other reports, and you pay for a report against this majority. "
         "The operator sees that you took part, and can conclude that a nat is worth at most {1} EUR to you."),
        ("Why the truth is best: you are taken to want {} EUR for a nat of loss towards the operator if you fear that "
         "leak alone, as much for a nat towards the public if you fear that, and your number says where between them "
         "you are. No other number than yours gives you more, once privacy is counted so, and taking part never costs "
         "you more than it pays: whatever the others say.",
         "The truth is the best answer to the first question. The campaign assumes that a nat of loss towards the "
         "operator costs you your first number times {1} EUR, and that a nat towards the public costs you {1} EUR "
         "minus this amount. With this cost of privacy, no other first number gives you more, and taking part never "
         "costs you more than it pays. This holds for any reports of other people."))),
    ("truth radius: moves of the prediction that surely lose (it lies within +-{}, scaled)",
     "truth radius: a lie that moves the prediction by more than the radius loses for sure (predictions lie within "
     "+-{1}, scaled)"),
    ("people for whom some answer surely loses\t", "people with at least one answer that loses for sure\t"),
    ("peers' estimates: their average over everybody else and the noise is off by at most (scaled)\t",
     "largest error of an estimate for payments, on average over everybody else and the noise (scaled)\t"),
    ("covered: people whose privacy costs them at most\t",
     "the promises of truth and participation cover people with a privacy cost of at most\t"),
    ("lies and empty slots that truth and accuracy allow for\t",
     "lies and missing records that the promises of truth and accuracy allow, together\t"),
    ("% of the invited: {} people", "% of the invited: {1}"),
    # searches
    ("Of this very list: its probability changes by at most e^{} = {} when one protected person's contacts are "
     "changed, because so many searches were made. That is no promise beforehand, and",
     "If one protected person's contacts change, the probability of this list changes by a factor of at most e^{1} = "
     "{2}, because of the number of searches in this run. This is no promise before the run, and"),
    ("known members to begin with\t", "known members at the start\t"),
    ("components that are found at most\t", "largest number of components to find\t"),
    ("what the source claims of the same noise (false)\t", "the source's claim for the same noise (false)\t"),
    ("If everybody else of the {} has the value 0; others with a value of their own come before her more often. A "
     "random order costs no privacy at all: what the noisy order saves beside it is what epsilon buys.",
     "The figures hold if everybody else of the {1} people has the value 0. People with a larger value come before "
     "this member more often. A random order costs no privacy, so epsilon buys the difference between the noisy and "
     "the random order."),
    ("A search that gives up is the last one: nothing is sought after it, so that an early failure ends everything.",
     "A search that gives up is the last one, so an early failure ends the whole campaign."),
    ("succeed with a chance of {}%, for members with the value {} with one of {}%, if",
     "succeed with probability {1}%, and for members with the value {2} with probability {3}%, if"),
    ("Where everybody's value is 0, so that nothing can be found but by chance, a search gives up after {} "
     "examinations on average",
     "If everybody's value is 0, a search can find a member only by chance. In this case, the average number of "
     "examinations before a search gives up is {1}"),
    ("; K = {} was asked for.", "; the file asks for K = {1}."),
    ("The threshold: with {}% the number that it aims at is within {} people of the best one that there is: at these "
     "sizes that says nothing.",
     "With probability {1}%, the drawn threshold's number of people differs from K by at most {2} people more than the "
     "number of the best threshold. At these sizes, this bound says nothing."),
    ("but for a probability of delta = ", "all of these searches, except with probability delta = "),
    ("people of value 0 who come before her, expected\t",
     "expected number of people before this member in the noisy order\t"),
    ("chance that the search gives up before her", "probability that the search gives up before this member"),
    ("networks in which somebody has more than {} contacts: one is refused before it is searched, and the campaign is "
     "over: the ledger was charged before, and keeps the debit. Take the bound from outside knowledge. A bound that is "
     "read off this network is a leak, and to leave contacts out until it holds is no remedy: it changes other "
     "people's lists, too.",
     "- networks in which somebody has more than {1} contacts. The run refuses such a network before it searches. The "
     "campaign is then over, and the ledger keeps the charge. Take the bound from outside knowledge: a bound that "
     "follows from this network is a leak. Do not leave out contacts until the bound holds, since this changes other "
     "people's lists of contacts, too."),
    ("What is asked of you is perhaps to be examined, once. A custodian knows who of {} people is in contact with "
     "whom, and looks for the members of a group among them, such as the infected or those who took part in a fraud.",
     "You may be asked to let yourself be examined, at most once. A custodian knows the contacts among {1} people, and "
     "looks for the members of a group among them, such as infected people or people who took part in a fraud."),
    # all kinds
    ("each {} is paid", "payment for {1}"),
    ("each yes is paid\teach no is paid", "payment for yes\tpayment for no"),
    ("How it is shared", "Rule for the shares"),
    ("how the losses are added up\t", "rule that adds up the losses\t"),
    ("per_round\t", "round by round\t"),
    ("how the searches are added up\t", "rule that adds up the searches\t"),
    ("{} of {} invited took no part.", "{1} of {2} invited people took no part."),
    (", {}% to {}% would be expected", ", the expected range is {1}% to {2}%"),
    (" by round, which end at", " by round. The prices end at"),
    ("the most that all goods of one person may be worth together", "the largest total value of one person's goods"),
    ("the most that somebody can write", "the largest value that a row can state"),
    (". Of the goods that you get the best {} count, and their worth adds up: together {} at most, or the row counts "
     "as an empty one; a value",
     ". The best {1} of your goods count, and their values add up. Their numbers add up to at most {2}, or the row "
     "counts as an empty row. A value"),
    (". Of the goods that you get all of them count, and their worth adds up: together {} at most, or the row counts "
     "as an empty one; a value",
     ". All goods that you get count, and their values add up. Their numbers add up to at most {1}, or the row counts "
     "as an empty row. A value"),
    (", none above the one before, together {} at most, or the row counts as an empty one; a value",
     ". No number is above the number before it. The numbers add up to at most {1}, or the row counts as an empty row. "
     "A value"),
    ("; of your goods the best {} count, and their worth adds up",
     ". Your best {1} goods count, and their values add up"),
    ("; one good counts, the best", ". Only your best good counts"),
    ("goods that one person may hold\t", "largest number of goods that one person may hold\t"),
    ("predicted welfare of made-up people, of the best that is possible\t{}%; {}% to {}% in {} runs, each of another "
     "crowd",
     "predicted welfare of synthetic people, as a share of the largest welfare\t{1}%; {2}% to {3}% in {4} runs, each "
     "on another population"),
    ("level of one report, at most: local differential privacy", "largest level of one report, local differential "
     "privacy"),
    ("half of the participants choose at most\t", "median level of the participants\t"),
    ("chance to be further off than {}", "probability of an error above {1}"),
    ("standard error\tat least {}% from\tto", "standard error\tinterval ({1}%): lower end\tupper end"),
    ("which hides hardly anything", "which protects hardly anything"),
    ("a population of {} made-up rows is fitted to them",
     "a population of {1} synthetic rows is fitted to these tables"),
    ("The fit: the population misses the noisy tables by {} (mean L1 distance), and {}% of its rows count.",
     "The mean L1 distance of the fitted population from the noisy tables is {1}, and the effective number of its rows "
     "is {2}% of all rows."),
    ("columns, and the attributes that they make\t", "columns, and their attributes (values, bins and bits)\t"),
    ("predicted error of an answer, on average\t", "average predicted error of an answer\t"),
    ("  of the worst answer\t", "  predicted error of the worst answer\t"),
    ("synthetic rows that are published\t", "published synthetic rows\t"),
    ("lines of the published table of answers\t", "lines in the published table of answers\t"),
    ("With delta = {}; the method as the file would choose it there.",
     "All rows have delta = {1}. The column 'method' has the method that the file selects at that epsilon."),
    (" records, and yours may be one of them.", " records, and your record may be one of them."),
    ("step size {}, one synthetic record a round", "step size {1}, with one synthetic record from each round"),
    (", its records reweighted on {} answers with Gaussian noise",
     ", with weights of its records that are fitted to {1} answers with Gaussian noise"),
    ("fitted to 1 answers with Gaussian noise", "fitted to 1 answer with Gaussian noise"),
    ("what follows from them\t", "all later measurements and choices of tables\t"),
    (" for a unit of the row. ", " for one unit of the row. "),
    (", one for each person at most", ", at most one for each person"),
    (", {} for each person at most", ", at most {1} for each person"),
    (", one bundle of up to {} for each person at most", ", at most one bundle of up to {1} for each person"),
    ("a path of up to {} for each person", "a path of up to {1} arcs for each person"),
    ("rounds of prices, and rounds before them\t", "main rounds; earlier rounds, which do not count\t"),
    ("within supply for sure\t", "each row within supply for certain\t"),
    ("It is the sum of the payment estimates' epsilon {} (each record is in one of the two groups) and the release's:",
     "The loss is the sum of the payment estimates' epsilon {1} (each record is in one of the two groups) and the loss "
     "of the release:"),
    ("Payment estimates carry", "Payment estimates have"),
    ("of which the release\t", "privacy loss of the release\t"),
    ("of which the payments\t", "privacy loss of the payments\t"),
    ("expected total, at most\t", "largest expected total\t"),
    ("typical, if everybody is truthful\t", "typical total, if everybody tells the truth\t"),
    ("typically\t", "typical amount\t"),
    ("nine times in ten\t", "range of 9 in 10 payments\t"),
    ("always\t", "range of every payment\t"),
    ("always (except with probability", "range of every payment (except with probability"),
    ("How it ended: ", "End of the search: "),
    ("it had searched as often as the plan allows, and found a component each time",
     "the search made all planned searches, and each of them found a component"),
    ("gave up: there may be more members, or none", "gave up, so there may be further members"),
    ("the ledger had no room for another search", "the ledger had no budget for another search"),
    (". {} of at most {} paid searches were made.", ". The run made {1} of at most {2} searches for a "
     "further component, which cost privacy."),
    ("\t{}, and those of further seeds", "\t{1}, and the components of further known members"),
    ("from each found member the search follows contacts and examines everybody next to the group; then, up to {} "
     "times, it examines others in the order of",
     "from each found member, the search follows contacts and examines everybody who has a contact with a found "
     "member. Up to {1} times, it then examines other people in a noisy order, until it finds another member. The "
     "order is by"),
    (" with the found, plus", " with the found members (the value of a person), plus"),
    (", until another member turns up", ""),
    ("{} of them, for certain (delta = 0)", "{1} searches for components, for certain (delta = 0)"),
    (" others, one with {} after {}; in a random order after {}.",
     " others, and a member with the value {1} after {2}. In a random order, a member comes after {3} others."),
    (", if each is for one member alone.", ", if each search has only one member to find."),
    ("Reports left the people already randomised: counts, payments and everything that is concluded from them give "
     "nothing further away.",
     "The devices randomised the reports before they sent them. So the counts, the payments and all conclusions from "
     "them disclose nothing more."),
    ("\tless the cost of privacy\tstrict\tsays anything",
     "\tpayment minus the cost of privacy\tstrict\treports say something"),
    ("share that takes part\t", "share of participants\t"),
    ("\texpected total\tsays anything", "\texpected total\treports say something"),
    ("method\tshare of the best that is possible\t", "method\tshare of the largest welfare\t"),
    ("Errors to expect", "Expected errors"),
    ("predicted error, average\tof the worst answer\twhich rests on",
     "average predicted error\terror of the worst answer\tbasis of the prediction"),
    ("method\tpredicted error, average\tof the worst answer",
     "method\taverage predicted error\terror of the worst answer"),
    ("no privacy is spent; the worst answer is off by the largest true answer",
     "costs no privacy; the largest error is the largest true answer"),
    ("At the same epsilon and delta. Errors are", "All methods have the same epsilon and delta. Errors are"),
    ("Privacy holds for every table, when one record is replaced by any other.",
     "Privacy holds for every table, if one record is replaced by any other record."),
    ("for each peer who reports the same\tfor each who reports the other",
     "if all your peers send the same report\tif all your peers send the other report"),
    ("step of prices\t", "rule for the step of prices\t"),
    ("where you start and where you want to go, nodes by their names",
     "the names of the nodes where you start and where you want to go"),
    ("Where you start and where you want to go, nodes by their names",
     "The names of the nodes where you start and where you want to go"),
    ("Precision to expect", "Expected precision"),
    ("Predicted for a population with the public second moments.",
     "The errors are predicted for a population with the public second moments."),
    ("The operator, with your record; nobody else.", "You trust the operator with your record, and nobody else."),
    ("how much likelier any list may get, at most", "largest factor of change in the probability of a list"),
    (" of a hidden member with the found\t", " of a hidden member with the found members (the member's value)\t"),
    ("\tthe same in a random order", "\texpected number of people before this member in a random order"),
    ("the threshold in the file\t", "threshold in the campaign file\t"),
    ("The first {}; found.csv has {} more. ",
     "The table shows the first {1} people. The file found.csv has {2} more. "),
    ("allows that somebody's record is published outright: choose it far smaller",
     "allows the release of a person's whole record: choose it far smaller"),
    (" records on every attribute, multiplied", " records on every attribute; answers are products of attributes"),
    ("; values add up", "; the values add up"),
    ("plain sum, at delta = 0 already\t", "plain sum, with delta = 0\t"),
    ("thresholds and selections concentrated apart\t",
     "separate concentrated composition of thresholds and selections\t"),
    ("concentrated, of whole searches, converted tightly\t",
     "concentrated composition of whole searches, with the tight conversion\t"),
    ("concentrated, of whole searches, by the plain formula\t",
     "concentrated composition of whole searches, by the plain formula\t"),
    # releases
    ("the population misses its targets by {} in L1 on average: above {}",
     "the population differs from its targets by {1} in L1 on average, which is above {2}"),
    ("only {}% of the population's rows count: less than {}%",
     "the weights are concentrated: the effective number of rows is {1}% of the population, which is less than {2}%"),
)
"""Pairs of former and present words of pages."""
