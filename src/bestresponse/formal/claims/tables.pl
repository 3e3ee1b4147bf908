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
