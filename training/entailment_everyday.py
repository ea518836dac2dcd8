"""Plain sentences that a groundedness model must not get wrong, none of them in the training: a look at them comes before any figure.

Each: (context, sentence, 1 if the context says it).
"""

_COUNCIL = "The city council met on Tuesday. It decided to close the bridge for repairs until May."
_MUSEUM = "The museum opens at nine in the morning. It is closed on Mondays. Tickets cost twelve euros. Children under six enter free of charge."
_PARIS = "Paris is the capital of France. It has about two million inhabitants."
_RETURNS = "You can return unopened items within 30 days. A 15% restocking fee applies to opened items."
_POLICY = ("Unopened items can be returned within 30 days of delivery for a full refund. Opened items may be returned within 14 days "
           "and a 15% restocking fee is charged. Refunds are sent to the original method of payment within five working days.")
_ADDRESS = "Orders are shipped within two business days. Once an order has been packed its address cannot be changed."
_REPORT = "Dana Ruiz wrote the report and Tom Berg reviewed it. The board accepted it in March by eight votes to three."

_PLANS = ("The Free plan has up to three members. Single sign-on (SSO) with SAML is part of the Pro and Enterprise plans. Audit logs are kept for "
          "a year on Enterprise only.")
_ASPIRIN = ("In the trial 9,500 healthy people over 70 took 100 mg of aspirin or a placebo each day. After five years low-dose aspirin had not "
            "lowered the risk of heart disease or stroke. Serious bleeding was more frequent in the aspirin group.")
_ROUTER = ("To restore the factory settings, hold the reset button for ten seconds. The network name and the Wi-Fi password are reset to the values "
           "on the label. Parental controls have to be set up again.")
_FINANCE = ("Maria Keller is the new chief financial officer. She replaces Tom Becker, who retired in March. From 2006 to 2015 she worked at Deloitte, "
            "before she joined the company as head of accounting.")
_BANK = "International transfers arrive within 5 to 7 business days. A fee of 12 euros is charged for each transfer."

CASES = [
    (_PLANS, "No, SSO is only on the Enterprise plan.", 0),
    (_PLANS, "Yes, you get single sign-on on the Pro plan too.", 1),
    (_ASPIRIN, "In the trial low-dose aspirin lowered the risk of heart disease and stroke.", 0),
    (_ROUTER, "After the reset the Wi-Fi password will be kept.", 0),
    (_FINANCE, "Tom Becker replaced her.", 0),
    (_FINANCE, "She spent nine years at Deloitte.", 1),
    (_BANK, "A transfer to another country takes about a week.", 1),
    (_COUNCIL, "The council decided to close the bridge for repairs until May.", 1),
    (_COUNCIL, "The bridge will be closed for repairs.", 1),
    (_COUNCIL, "The council decided to open a second airport next to the stadium.", 0),
    (_COUNCIL, "The council decided to keep the bridge open.", 0),
    (_MUSEUM, "The museum opens at nine in the morning.", 1),
    (_MUSEUM, "A ticket costs twelve euros.", 1),
    (_MUSEUM, "Tickets cost forty euros.", 0),
    (_MUSEUM, "The museum is open on Mondays.", 0),
    (_MUSEUM, "Children under six do not have to pay.", 1),
    (_MUSEUM, "Students pay half the price.", 0),
    (_PARIS, "The capital of France is Paris.", 1),
    (_PARIS, "Paris has about two million inhabitants.", 1),
    (_PARIS, "Paris has about nine million inhabitants.", 0),
    (_PARIS, "Lyon is the capital of France.", 0),
    ("The committee rejected the plan because it was too expensive.", "The plan was rejected by the committee on account of its cost.", 1),
    ("The committee rejected the plan because it was too expensive.", "The committee approved the plan.", 0),
    (_RETURNS, "There is no restocking fee for unopened items.", 1),
    (_RETURNS, "You can return an unopened item within 30 days.", 1),
    (_RETURNS, "You can return an unopened item within 90 days.", 0),
    (_POLICY, "You can return unopened items within 30 days for a full refund.", 1),
    (_POLICY, "If you have opened the item, a restocking fee of 15% is charged.", 1),
    (_POLICY, "You can return opened items within 60 days for a full refund.", 0),
    (_POLICY, "Refunds are paid out as gift cards.", 0),
    (_POLICY, "The money goes back to the card you paid with within five working days.", 1),
    (_ADDRESS, "You can change the address at any time, even after the order has been packed.", 0),
    (_ADDRESS, "You cannot change the address once the order has been packed.", 1),
    (_ADDRESS, "Orders ship within two business days.", 1),
    (_REPORT, "Dana Ruiz wrote the report.", 1),
    (_REPORT, "Tom Berg wrote the report.", 0),
    (_REPORT, "The board rejected the report.", 0),
    (_REPORT, "Eight members of the board voted for the report.", 1),
]
