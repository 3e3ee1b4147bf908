% What the rules of the forms in trees.py are made of: `ahead` looks ahead by backward induction, one answer for each way.

paid(K, Values, U) :- nth0(K, Values, U).
pays(K, N, U) :- ends(N, Values), paid(K, Values, U).
ahead(N, Values, none) :- ends(N, Values).
ahead(N, Values, Move) :-
    turn(N, K), findall(M-C, branch(N, M, C), Branches), below(Branches, Ways), at_best(K, Ways, Most),
    member(Move-Values, Ways), paid(K, Values, U), U =:= Most.
ahead(N, Values, drawn) :-
    draw(N), findall(W-C, drawn(N, W, C), Branches), below(Branches, Ways), blend(Ways, Values).
below([], []).
below([M-C|Branches], [M-Values|Ways]) :- ahead(C, Values, _), below(Branches, Ways).
at_best(K, Ways, Most) :- findall(U, ( member(_-Values, Ways), paid(K, Values, U) ), Us), max_list(Us, Most).
blend([W-Values], Blend) :- scaled(W, Values, Blend).
blend([W-Values, Next|Ways], Blend) :- scaled(W, Values, Part), blend([Next|Ways], Rest), added(Part, Rest, Blend).
scaled(_, [], []).
scaled(W, [U|Us], [V|Vs]) :- V is W * U, scaled(W, Us, Vs).
added([], [], []).
added([U|Us], [V|Vs], [W|Ws]) :- W is U + V, added(Us, Vs, Ws).

% The rules of the forms.

claim(will_play(_, Action, After)) :- \+ ( ahead(After, _, Other), Other \== Action ).
possible(will_play(_, Action, After)) :- ahead(After, _, Action).
claim(continuation_payoff(Who, Value, After)) :- \+ ( ahead(After, Values, _), paid(Who, Values, U), U =\= Value ).
possible(continuation_payoff(Who, Value, After)) :- ahead(After, Values, _), paid(Who, Values, U), U =:= Value.
claim(credible_threat(Who, Action, After)) :- claim(will_play(Who, Action, After)).
possible(credible_threat(Who, Action, After)) :- possible(will_play(Who, Action, After)).
