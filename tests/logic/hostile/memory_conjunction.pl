% expect: stopped
% long lists one after the other in one clause
initial(dawn).
initially(player(p1), dawn).
initially(player(p2), dawn).
initially(control(P), dawn) :- member(P, [p1, p2]).
legal(move(P, M), S) :- numlist(1, 400000, L0), numlist(1, 400000, L1), numlist(1, 400000, L2), numlist(1, 400000, L3), numlist(1, 400000, L4), numlist(1, 400000, L5), numlist(1, 400000, L6), numlist(1, 400000, L7), numlist(1, 400000, L8), numlist(1, 400000, L9), numlist(1, 400000, L10), numlist(1, 400000, L11), numlist(1, 400000, L12), numlist(1, 400000, L13), numlist(1, 400000, L14), numlist(1, 400000, L15), numlist(1, 400000, L16), numlist(1, 400000, L17), numlist(1, 400000, L18), numlist(1, 400000, L19), L0 = [_|_], L1 = [_|_], L2 = [_|_], L3 = [_|_], L4 = [_|_], L5 = [_|_], L6 = [_|_], L7 = [_|_], L8 = [_|_], L9 = [_|_], L10 = [_|_], L11 = [_|_], L12 = [_|_], L13 = [_|_], L14 = [_|_], L15 = [_|_], L16 = [_|_], L17 = [_|_], L18 = [_|_], L19 = [_|_], holds(control(P), S), member(M, [stag, hare]).
effect(hunted(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(S) :- holds(hunted(p1, _), S), holds(hunted(p2, _), S).
catch_of(stag, stag, 4).
catch_of(stag, hare, 0).
catch_of(hare, _, 3).
finally(goal(p1, U), S) :- holds(hunted(p1, A), S), holds(hunted(p2, B), S), catch_of(A, B, U).
finally(goal(p2, U), S) :- holds(hunted(p1, A), S), holds(hunted(p2, B), S), catch_of(B, A, U).
