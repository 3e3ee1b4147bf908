% The rules of the forms in form.py, for tables and trees.

claim(higher(First, Second)) :- First > Second.
claim(lower(First, Second)) :- First < Second.
claim(equal(First, Second)) :- First =:= Second.
claim(payoff(Who, Value, Outcome)) :- pays(Who, Outcome, U), U =:= Value.
claim(highest_possible_individual_payoff(Value, Who)) :-
    \+ ( pays(Who, _, V), V > Value ), pays(Who, _, U), U =:= Value.
claim(lowest_possible_individual_payoff(Value, Who)) :- \+ ( pays(Who, _, V), V < Value ), pays(Who, _, U), U =:= Value.
claim(total_payoff(Value, Outcome)) :- findall(U, pays(_, Outcome, U), Us), sum_list(Us, T), T =:= Value.
claim(highest_payoff(Value)) :- \+ ( pays(_, _, V), V > Value ), pays(_, _, U), U =:= Value.
claim(lowest_payoff(Value)) :- \+ ( pays(_, _, V), V < Value ), pays(_, _, U), U =:= Value.
claim(better_outcome(Who, Outcome, Than)) :- pays(Who, Outcome, U), pays(Who, Than, V), U > V.
claim(payoff_difference(Who, Value, Outcome, Than)) :- pays(Who, Outcome, U), pays(Who, Than, V), U - V =:= Value.
claim(payoff_ratio(Who, Value, Outcome, Than)) :- pays(Who, Outcome, U), pays(Who, Than, V), V =\= 0, U =:= Value * V.
