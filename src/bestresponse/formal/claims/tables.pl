% What the rules of the forms in tables.py are made of. `weighed` gives the weights N/M of B, the rest on C, where choices
% tie. `rest` yields the extreme equilibria of two players with two choices each: mixes that are pure or make choices tie.

pays(P, Outcome, U) :- cell(P, _, _, Outcome, U).
worst(P, A, U) :- findall(V, cell(P, A, _, _, V), Vs), min_list(Vs, U).
best(P, A, U) :- findall(V, cell(P, A, _, _, V), Vs), max_list(Vs, U).
sum_of(Outcome, T) :- findall(U, pays(_, Outcome, U), Us), sum_list(Us, T).
reply(P, Others, U) :- findall(V, cell(P, _, Others, _, V), Vs), max_list(Vs, U).
moved(P, Outcome, U) :- cell(P, _, Others, Outcome, _), reply(P, Others, U).
likelihood([], [], 1).
likelihood([A|As], [Mix|Mixes], W) :- memberchk(A-X, Mix), likelihood(As, Mixes, Y), W is X * Y.
average(P, A, belief(Mixes, _), E) :-
    findall(T, ( cell(P, A, Others, _, U), likelihood(Others, Mixes, W), T is W * U ), Ts), sum_list(Ts, E).
blur(P, A, belief(Mixes, Highest), E, S) :-
    findall(T, ( cell(P, A, O, _, U), likelihood(O, Mixes, W), likelihood(O, Highest, H),
                 T is (H - W) * abs(U - E) ), Ts),
    sum_list(Ts, S).
slack(P, A, B, belief(Mixes, Highest), S) :-
    findall(T, ( cell(P, A, O, _, U), cell(P, B, O, _, V), likelihood(O, Mixes, W), likelihood(O, Highest, H),
                 T is (H - W) * abs(U - V) ), Ts),
    sum_list(Ts, S).
lead(P, A, B, Mixed, D, S) :- average(P, A, Mixed, E), average(P, B, Mixed, F), D is E - F, slack(P, A, B, Mixed, S).
beaten(P, A, Mixed) :- action(P, B), lead(P, B, A, Mixed, D, S), D > S.
gain(P, A, B, X, D) :- cell(P, A, [X], _, U), cell(P, B, [X], _, V), D is U - V.
more_everywhere(P, A, B) :- \+ ( cell(P, A, O, _, U), cell(P, B, O, _, V), U =< V ).
never_less(P, A, B) :- \+ ( cell(P, A, O, _, U), cell(P, B, O, _, V), U < V ).
once_more(P, A, B) :- cell(P, A, O, _, U), cell(P, B, O, _, V), U > V.
left(P, A, O, U, Removed) :-
    cell(P, A, O, X, U), \+ ( member(Q-B, Removed), Q \== P, seats(Ps), nth0(N, Ps, Q), nth0(N, X, B) ).
less_for_somebody(X, Y) :- pays(P, X, U), pays(P, Y, V), U < V.
weighed(_, _, _, 1, 1).
weighed(_, _, _, 0, 1).
weighed(P, B, C, N, M) :- gain(P, I, K, B, D), gain(P, I, K, C, E), M is E - D, M > 0, E > 0, D < 0, N = E.
two_by_two :- seats([_, _]), findall(A, action(p0, A), [_, _]), findall(B, action(p1, B), [_, _]).
corner(P, [a0-X, a1-Y]) :- weighed(P, a0, a1, N, M), X is N rdiv M, Y is 1 - X.
spoils(P, Own, Other) :- member(A-W, Own), W > 0, beaten(P, A, belief([Other], [Other])).
rest(X, Y) :- corner(p1, X), corner(p0, Y), \+ spoils(p0, X, Y), \+ spoils(p1, Y, X).
rest_pays(p0, U) :- rest(X, Y), member(A-W, X), W > 0, average(p0, A, belief([Y], [Y]), U).
rest_pays(p1, U) :- rest(X, Y), member(A-W, Y), W > 0, average(p1, A, belief([X], [X]), U).

% The rules of the forms.

claim(highest_individual_payoff_for_choice(Value, Action, Who)) :- best(Who, Action, U), U =:= Value.
claim(lowest_individual_payoff_for_choice(Value, Action, Who)) :- worst(Who, Action, U), U =:= Value.
claim(guaranteed_payoff_for_choice(Value, Action, Who)) :- worst(Who, Action, U), U >= Value.
claim(limited_payoff_for_choice(Value, Action, Who)) :- best(Who, Action, U), U =< Value.
claim(highest_guaranteed_payoff_choice(Action, Who)) :-
    worst(Who, Action, U), \+ ( action(Who, B), worst(Who, B, V), V > U ).
claim(higher_guaranteed_payoff(Action, Other, Who)) :- worst(Who, Action, U), worst(Who, Other, V), U > V.
claim(lower_guaranteed_payoff(Action, Other, Who)) :- worst(Who, Action, U), worst(Who, Other, V), U < V.
claim(highest_mutual_payoff(Actions)) :- sum_of(Actions, T), \+ ( cell(p0, _, _, Y, _), sum_of(Y, V), V > T ).
claim(lowest_mutual_payoff(Actions)) :- sum_of(Actions, T), \+ ( cell(p0, _, _, Y, _), sum_of(Y, V), V < T ).
claim(lowest_guaranteed_payoff_choice(Action, Who)) :-
    worst(Who, Action, U), \+ ( action(Who, B), worst(Who, B, V), V < U ).
claim(equal_guaranteed_payoff(Action, Other, Who)) :- worst(Who, Action, U), worst(Who, Other, V), U =:= V.
claim(maximin_payoff(Value, Who)) :- findall(U, ( action(Who, A), worst(Who, A, U) ), Us), max_list(Us, V), V =:= Value.
claim(minimax_payoff(Value, Who)) :-
    findall(U, ( cell(Who, a0, O, _, _), reply(Who, O, U) ), Us), min_list(Us, V), V =:= Value.
claim(expected_payoff(Who, Value, Action, Mixed, Error)) :-
    average(Who, Action, Mixed, E), blur(Who, Action, Mixed, E, S), abs(E - Value) =< Error + S.
claim(mixed_payoff(Who, Value, Mixes, Error)) :-
    member(part(Who, Own, _, Mixed), Mixes), findall(T, ( member(A-W, Own), average(Who, A, Mixed, E), T is W *
    E ), Ts), sum_list(Ts, M), findall(T, ( member(part(Who, Own, High, Mixed), Mixes), member(A-W, Own),
    memberchk(A-H, High), average(Who, A, Mixed, E), blur(Who, A, Mixed, E, B), T is (H - W) * abs(E - M) + H *
    B ), Ss), sum_list(Ss, S), abs(M - Value) =< Error + S.
claim(best_response(Action, Against, Who)) :-
    cell(Who, Action, Against, _, U), \+ ( cell(Who, _, Against, _, V), V > U ).
claim(better_response(Action, Other, Against, Who)) :-
    cell(Who, Action, Against, _, U), cell(Who, Other, Against, _, V), U > V.
claim(equal_response(Action, Other, Against, Who)) :-
    cell(Who, Action, Against, _, U), cell(Who, Other, Against, _, V), U =:= V.
claim(best_response_to_mix(Action, Mixed, Who)) :- \+ beaten(Who, Action, Mixed).
claim(better_response_to_mix(Action, Other, Mixed, Who)) :- lead(Who, Action, Other, Mixed, D, S), D + S > 0.
claim(equal_response_to_mix(Action, Other, Mixed, Who)) :- lead(Who, Action, Other, Mixed, D, S), abs(D) =< S.
claim(better_response_above(Share, Action, Other, Chosen, Who, Error)) :-
    gain(Who, Action, Other, Chosen, D), D > 0, P is Share + Error, \+ ( gain(Who, Action, Other, X, E), X \==
    Chosen, P * D + (1 - P) * E < 0 ).
claim(better_response_below(Share, Action, Other, Chosen, Who, Error)) :-
    gain(Who, Action, Other, Chosen, D), P is Share - Error, \+ ( gain(Who, Action, Other, X, E), X \== Chosen,
    ( E =< 0 ; P * D + (1 - P) * E < 0 ) ).
claim(best_response_above(Share, Action, Chosen, Who, Error)) :-
    P is Share + Error, \+ ( gain(Who, Action, _, Chosen, D), D < 0 ), \+ ( gain(Who, Action, B, Chosen, D),
    gain(Who, Action, B, X, E), X \== Chosen, P * D + (1 - P) * E < 0 ).
claim(best_response_below(Share, Action, Chosen, Who, Error)) :-
    P is Share - Error, \+ ( gain(Who, Action, B, Chosen, D), gain(Who, Action, B, X, E), X \== Chosen, ( E < 0
    ; P * D + (1 - P) * E < 0 ) ).
claim(strictly_dominates(Action, Other, Who)) :- Action \== Other, more_everywhere(Who, Action, Other).
claim(weakly_dominates(Action, Other, Who)) :- never_less(Who, Action, Other), once_more(Who, Action, Other).
claim(strictly_dominates_without(Action, Other, Removed, Who)) :-
    Action \== Other, \+ ( left(Who, Action, O, U, Removed), left(Who, Other, O, V, Removed), U =< V ).
claim(weakly_dominates_without(Action, Other, Removed, Who)) :-
    \+ ( left(Who, Action, O, U, Removed), left(Who, Other, O, V, Removed), U < V ), left(Who, Action, O, U,
    Removed), left(Who, Other, O, V, Removed), U > V.
claim(strictly_dominant(Action, Who)) :- \+ ( action(Who, B), B \== Action, \+ more_everywhere(Who, Action, B) ).
claim(weakly_dominant(Action, Who)) :-
    \+ ( action(Who, B), B \== Action, \+ never_less(Who, Action, B) ), \+ ( action(Who, B), B \== Action, \+
    once_more(Who, Action, B) ).
claim(strictly_dominated(Action, Who)) :- action(Who, B), B \== Action, more_everywhere(Who, B, Action).
claim(no_dominant_choice(Who)) :- \+ ( action(Who, A), claim(weakly_dominant(A, Who)) ).
claim(equilibrium(Outcome)) :- \+ ( pays(P, Outcome, U), moved(P, Outcome, V), V > U ).
claim(pure_equilibria(Value)) :-
    findall(O, ( cell(p0, _, _, O, _), claim(equilibrium(O)) ), Os), length(Os, N), N =:= Value.
claim(mixed_equilibrium(Mixes)) :-
    \+ ( member(part(P, Own, _, Mixed), Mixes), member(A-W, Own), W > 0, beaten(P, A, Mixed) ).
claim(mixed_equilibrium_part(Part)) :-
    Part = part(P, Own, Q, Mixed), findall(B, ( action(Q, B), \+ beaten(Q, B, Mixed) ), Bs), ( Bs = [B], C = B ;
    Bs = [B, C] ), weighed(P, B, C, N, M), \+ ( member(A-W, Own), W > 0, gain(P, K, A, B, D), gain(P, K, A, C,
    E), N * D + (M - N) * E > 0 ).
claim(equilibrium_payoff(Who, Value, Error)) :- two_by_two, \+ ( rest_pays(Who, U), abs(U - Value) > Error ).
possible(equilibrium_payoff(Who, Value, Error)) :-
    \+ two_by_two ; rest_pays(Who, U), U =< Value + Error, rest_pays(Who, V), V >= Value - Error.
claim(pareto_dominates(Outcome, Than)) :- \+ less_for_somebody(Outcome, Than), less_for_somebody(Than, Outcome).
claim(pareto_optimal(Outcome)) :-
    \+ ( cell(p0, _, _, Y, _), less_for_somebody(Outcome, Y), \+ less_for_somebody(Y, Outcome) ).
