% The worker inside SWI-Prolog: games as modules, questions in, answers out.
%
% A request is one term on a line, `request(Token, Length, What)`, followed by Length characters of program text or of
% goals. The reply is the token on a line, one term a line, and the token again. Tokens are drawn afresh by the asking
% side, so nothing a program prints can pass for a reply (and what a program prints goes nowhere).
%
% A program is data here: its clauses are read as terms and every goal in them is looked at before it is stored. What is
% neither defined by the program nor in `allowed/2` below becomes an existence error; a goal that is known only at run
% time is looked at when it is called. How a table is taken out of a game can be asked, but no program can call it. No directive runs, no term is expanded, no module can be named.

:- module(bestresponse, [serve/0]).
:- set_prolog_flag(autoload, false).  % libraries load what they need now: later no file can be opened
:- use_module(library(apply)).
:- use_module(library(error)).
:- use_module(library(lists)).
:- use_module(library(terms), [term_size/2]).

:- set_module(bestresponse_games:base(system)).
:- bestresponse_games:use_module(library(apply), [ maplist/2, maplist/3, maplist/4, maplist/5, foldl/4, foldl/5,
                                                   include/3, exclude/3, partition/4, convlist/3 ]).
:- use_module(library(random), [random_between/3]).

% The primitives of the list library: it calls them with well-typed arguments.
bestresponse_games:'raw length'(List, Length) :- length(List, Length).
bestresponse_games:'raw sort'(Key, Order, List, Sorted) :- bestresponse:sort_by(Key, Order, List, Sorted).
bestresponse_games:'raw compare'(Order, Left, Right) :- compare(Order, Left, Right).
bestresponse_games:'fresh copy'(Term, Copy) :- copy_term(Term, Copy).
bestresponse_games:'filled copy'(Term, Filler, Copy) :- copy_term(Term, Copy), term_variables(Copy, Vs), maplist(=(Filler), Vs).
bestresponse_games:'first argument'(Term, Argument) :- compound(Term), arg(1, Term, Argument).
bestresponse_games:'raise'(Message, Culprit) :- throw(error(raised(Message, Culprit), 0)).
bestresponse_games:'next position' :- bestresponse:count_one(positions).
bestresponse_games:'count end' :- bestresponse:count_one(ends).

count_one(Kind) :-
    flag(Kind, Before, Before + 1),
    nb_getval(Kind, Most),
    (   Before < Most -> true ; throw(limit(Kind)) ).

sort_by(Key, Order, List, Sorted) :-
    (   Key > 0, member(Item, List), \+ ( compound(Item), compound_name_arity(Item, _, Arity), Arity >= Key )
    ->  throw(error(no_argument(Item, Key), 0))
    ;   sort(Key, Order, List, Sorted)
    ).

:- dynamic(library_defines/2). % library_defines(Name, Arity): what every game may call; of the list library, or redefine
:- dynamic(question/2).        % question(Name, Arity): what may be asked about a game, but not called by one
:- dynamic(defines/3).         % defines(Module, Name, Arity): what a game may call by its own right
:- dynamic(solver_clause/1).   % solver_clause(Clause): what every game has besides; trusted, given once
:- dynamic(seed/1).
:- dynamic(remembered/2).      % remembered(Hash, Answers): what holds in a situation, while it is asked
:- dynamic(protected/2).       % protected(Name, Arity): what no game may define

% ---- the loop

serve :-
    set_prolog_flag(generate_debug_info, false),
    set_prolog_flag(prefer_rationals, true),
    set_prolog_flag(occurs_check, true),
    set_prolog_flag(gc_thread, false),
    current_input(In),
    current_output(Out),
    set_stream(In, encoding(utf8)),
    set_stream(In, newline(posix)),
    set_stream(Out, encoding(utf8)),
    set_stream(Out, buffer(full)),
    open_null_stream(Nowhere),
    set_stream(Nowhere, alias(user_output)),
    set_stream(Nowhere, alias(user_error)),
    set_output(Nowhere),
    open_string("", Nothing),
    set_stream(Nothing, alias(user_input)),
    set_input(Nothing),
    _ is random(2),
    current_prolog_flag(version, Version),
    reply(Out, ready, [version(Version)]),
    loop(In, Out).

loop(In, Out) :-
    read_term(In, Request, []),
    (   Request = request(Token, Length, What)
    ->  get_char(In, _),
        read_string(In, Length, Text),
        answer(What, Text, Terms),
        reply(Out, Token, Terms),
        loop(In, Out)
    ;   halt
    ).

reply(Out, Token, Terms) :-
    write(Out, Token),
    nl(Out),
    write_lines(Terms, Out),
    write(Out, Token),
    nl(Out),
    flush_output(Out).

write_lines([], _).
write_lines([Term|Terms], Out) :-
    write_term(Out, Term, [quoted(true), ignore_ops(true)]),
    nl(Out),
    write_lines(Terms, Out).

answer(What, Text, Terms) :-
    catch(perform(What, Text, Terms), Error, ( failure(Error, Term), Terms = [Term] )).

perform(library, Text, [loaded]) :-
    open_string(Text, Stream),
    clauses(Stream, Clauses),
    maplist(add_library, Clauses).
perform(solver(Seed), Text, [loaded]) :-
    assertz(seed(Seed)),
    open_string(Text, Stream),
    clauses(Stream, Clauses),
    maplist(add_solver, Clauses).
perform(extraction, Text, [loaded]) :-
    open_string(Text, Stream),
    clauses(Stream, Clauses),
    maplist(add_extraction, Clauses).
perform(load(Module, Old), Text, [loaded(Module)]) :-
    unload(Old),
    (   sub_string(Text, _, _, _, "random"), seed(Seed)
    ->  set_random(seed(Seed))  % what a program draws depends on no other
    ;   true
    ),
    load(Module, Text).
perform(ask(Module, Count, Answers, Steps, StepsOfRule, Size, Ends, Positions), Text, Results) :-
    nb_setval(game, Module),
    nb_setval(steps_of_rule, StepsOfRule),
    nb_setval(ends, Ends),
    nb_setval(positions, Positions),
    open_string(Text, Goals),
    ask_all(Count, Goals, Module, limits(Answers, Steps), Results),
    fits(Results, Size).

% Measuring the text exactly costs as much as writing it, so small terms pass by their number of cells.
fits(Results, Size) :-
    (   acyclic_term(Results), term_size(Results, Cells), Cells * 32 =< Size
    ->  true
    ;   acyclic_term(Results), write_length(Results, _, [max_length(Size), quoted(true), ignore_ops(true)])
    ->  true
    ;   throw(limit(output))
    ).

failure(limit(Which), limit(Which)) :- !.
failure(error(resource_error(_), _), limit(memory)) :- !.
failure('$aborted', limit(memory)) :- !.
failure(unwind(abort), limit(memory)) :- !.
failure(error(Formal, Context), error(Formal1, Where)) :-
    !,
    unqualified(Formal, Formal1),
    ( integer(Context) -> Where = Context ; Where = 0 ).
failure(Ball, error(Ball, 0)).

unqualified(existence_error(procedure, _:Indicator), existence_error(procedure, Indicator)) :- !.
unqualified(Formal, Formal).

% ---- questions

ask_all(0, _, _, _, []) :- !.
ask_all(Count, Goals, Module, Limits, [Result|Results]) :-
    read(Goals, Goal-Values),
    catch(ask(Goal, Values, Module, Limits, Result), Error, failure(Error, Result)),
    (   Result = limit(_)
    ->  Results = []
    ;   Count1 is Count - 1,
        ask_all(Count1, Goals, Module, Limits, Results)
    ).

ask(Goal, Values, Module, limits(Answers, Steps), Result) :-
    flag(ends, _, 0),
    flag(positions, _, 0),
    flag(remembered, _, 0),
    retractall(remembered(_, _)),
    checked(Goal, Module, asked, Checked),
    call_with_inference_limit(findnsols(Answers, Values, Module:Checked, Found), Steps, Outcome),
    !,
    nb_getval(steps_of_rule, StepsOfRule),
    (   Outcome \== inference_limit_exceeded -> Result = answers(Found)
    ;   Steps > StepsOfRule -> Result = limit(work)
    ;   Result = limit(steps)
    ).

read_data(Stream, Term) :-
    read_term(Stream, Term, [ module(bestresponse_games), syntax_errors(error), double_quotes(string),
                              back_quotes(codes), dotlists(false), var_prefix(false), quasi_quotations(_) ]).

% ---- programs

load(Module, Text) :-
    open_string(Text, Stream),
    clauses(Stream, Clauses),
    (   ( sub_string(Text, _, _, _, "random") ; sub_string(Text, _, _, _, "maybe") )
    ->  Repeatable = false
    ;   Repeatable = true
    ),
    catch(define_all(Module, Repeatable, Clauses), Error, ( unload(Module), throw(Error) )).

define_all(Module, Repeatable, Clauses) :-
    maplist(declare(Module), Clauses),
    set_module(Module:base(bestresponse_games)),
    set_module(Module:class(temporary)),
    forall(solver_clause(Clause), ( add_rule(Repeatable, Module, Clause), allow(Module, Clause) )),
    (   Repeatable == true
    ->  assertz(Module:(holds(Fluent, Situation) :- bestresponse:remember(Module, Fluent, Situation)))
    ;   true
    ),
    store_all(Clauses, Module, 1).

add_rule(true, Module, (holds(Fluent, Situation) :- Body)) :-
    !,
    assertz(Module:('$holds'(Fluent, Situation) :- Body)).
add_rule(_, Module, Clause) :- assertz(Module:Clause).

% What holds after many moves is asked of the situation before them, again and again: without a memory that takes
% exponential time. All answers are found at the first call and kept in their order. Where that raises an error, has no
% end or takes long, they are found one by one when asked for.
remember(Module, Fluent, Situation) :-
    (   Situation = do(_, do(_, do(_, do(_, do(_, _))))), ground(Situation)
    ->  variant_sha1(Fluent-Situation, Hash),
        (   remembered(Hash, Answers) -> true ; answers_of(Hash, Module, Fluent, Situation, Answers) ),
        (   Answers = all(Fluents)
        ->  member(Fluent, Fluents)
        ;   Module:'$holds'(Fluent, Situation)
        )
    ;   Module:'$holds'(Fluent, Situation)
    ).

% A hash that no two terms share stands for the situation, which would be copied with all the moves before it.
answers_of(Hash, Module, Fluent, Situation, Answers) :-
    (   catch(call_with_inference_limit(findnsols(1001, Fluent, Module:'$holds'(Fluent, Situation), Found), 100 000,
                                        Outcome),
              Error, is_told_later(Error)),
        nonvar(Found), Outcome \== inference_limit_exceeded, length(Found, Count), Count =< 1000
    ->  Answers = all(Found)
    ;   Answers = one_by_one
    ),
    flag(remembered, Kept, Kept + 1),
    (   Kept >= 50000
    ->  retractall(remembered(_, _)),
        flag(remembered, _, 0)
    ;   true
    ),
    assertz(remembered(Hash, Answers)).

is_told_later(error(Formal, _)) :- Formal \= resource_error(_), !.
is_told_later(limit(depth)) :- !.
is_told_later(Error) :- throw(Error).

store_all([], _, _).
store_all([Clause|Clauses], Module, Number) :-
    store(Clause, Module, Number),
    Next is Number + 1,
    store_all(Clauses, Module, Next).

add_library(Clause) :-
    parts(Clause, Head, Body),
    functor(Head, Name, Arity),
    ( library_defines(Name, Arity) -> true ; assertz(library_defines(Name, Arity)) ),
    add_trusted(Head, Body).

% How a table is taken out of a game is there once, for the game that is asked about.
add_extraction(Clause) :-
    parts(Clause, Head, Body),
    functor(Head, Name, Arity),
    ( question(Name, Arity) -> true ; assertz(question(Name, Arity)) ),
    add_trusted(Head, Body),
    protect(Clause).

add_trusted(Head, Body) :-
    computed(Body, Computed),
    assertz(bestresponse_games:(Head :- Computed)).

add_solver(Clause) :-
    assertz(solver_clause(Clause)),
    protect(Clause).

protect(Clause) :-
    parts(Clause, Head, _),
    functor(Head, Name, Arity),
    ( protected(Name, Arity) -> true ; assertz(protected(Name, Arity)) ).

parts(Clause, Head, Body) :- ( Clause = (Head :- Body) -> true ; Head = Clause, Body = true ).

% In trusted text only arithmetic and calls of what games define are rewritten.
computed(Goal, Goal) :- var(Goal), !.
computed(Goal, bestresponse:in_game(Goal)) :- of_game(Goal), !.
computed(Goal, Computed) :- arithmetic(Goal, 0, Computed), !.
computed(Goal, Computed) :-
    ( control(Goal) ; Goal = once(_) ; Goal = findall(_, _, _) ),
    compound(Goal), !,
    Goal =.. [Name|Arguments],
    maplist(computed, Arguments, Rewritten),
    Computed =.. [Name|Rewritten].
computed(Goal, Goal).

of_game(initial(_)).
of_game(holds(_, _)).
of_game(final(_)).
of_game(finally(_, _)).
of_game(legal(_, _)).
of_game(chance(_, _, _)).
of_game(sees(_, _, _)).
of_game('has percepts').

in_game(Goal) :-
    nb_getval(game, Module),
    nb_getval(steps_of_rule, Steps),
    call_with_inference_limit(Module:Goal, Steps, Outcome),
    (   Outcome == inference_limit_exceeded -> throw(limit(steps)) ; true ).

unload(Module) :-
    retractall(defines(Module, _, _)),
    (   current_module(Module), module_property(Module, class(temporary))
    ->  '$destroy_module'(Module)
    ;   true
    ).

clauses(Stream, Clauses) :-
    read_data(Stream, Clause),
    (   Clause == end_of_file
    ->  Clauses = []
    ;   Clauses = [Clause|Rest],
        clauses(Stream, Rest)
    ).

declare(Module, Clause) :-
    parts(Clause, Head, _),
    (   callable(Head) -> true ; throw(error(type_error(callable, Head), _)) ),
    functor(Head, Name, Arity),
    (   defines(Module, Name, Arity)
    ->  true
    ;   ( protected(Name, Arity) ; sub_atom(Name, 0, 1, _, $) )
    ->  throw(error(permission_error(modify, static_procedure, Name/Arity), _))
    ;   assertz(defines(Module, Name, Arity))
    ).

allow(Module, Clause) :-
    parts(Clause, Head, _),
    functor(Head, Name, Arity),
    ( defines(Module, Name, Arity) -> true ; assertz(defines(Module, Name, Arity)) ).

store((Head :- Body), Module, Number) :-
    !, checked(Body, Module, Number, Checked), assertz(Module:(Head :- Checked)).
store(Head, Module, _) :- assertz(Module:Head).

% ---- goals: what may be called

% checked(+Goal, +Module, +Where, -Checked): Checked does what Goal does, and calls only what Module defines or all may
% call. Where is the number of the clause, for error messages; 0 if it is in none, `asked` in a question.
checked(Goal, Module, _, bestresponse:run(Module, Goal)) :- var(Goal), !.
checked((A, B), Module, Where, (A1, B1)) :- !, checked(A, Module, Where, A1), checked(B, Module, Where, B1).
checked((A ; B), Module, Where, (A1 ; B1)) :- !, checked(A, Module, Where, A1), checked(B, Module, Where, B1).
checked((A -> B), Module, Where, (A1 -> B1)) :- !, checked(A, Module, Where, A1), checked(B, Module, Where, B1).
checked((A *-> B), Module, Where, (A1 *-> B1)) :- !, checked(A, Module, Where, A1), checked(B, Module, Where, B1).
checked(\+ A, Module, Where, \+ A1) :- !, checked(A, Module, Where, A1).
checked(A = B, _, _, bestresponse:unify(A, B)) :- !.
checked(Goal, _, _, Goal) :- control(Goal), Goal \= (_:_), !.
checked(Goal, Module, Where, Checked) :-
    must_be(callable, Goal),
    functor(Goal, Name, Arity),
    (   Goal = 'undefined predicate'(Undefined/Count)
    ->  Checked = bestresponse:absent(Undefined, Count, Where)
    ;   defines(Module, Name, Arity)
    ->  Checked = Goal
    ;   meta(Goal, Kinds)
    ->  Goal =.. [Name|Arguments],
        maplist(checked_argument(Module, Where), Kinds, Arguments, Checks),
        Checked =.. [Name|Checks]
    ;   arithmetic(Goal, Where, Checked)
    ->  true
    ;   ( allowed(Name, Arity) ; Where == asked, question(Name, Arity) )
    ->  Checked = Goal
    ;   Checked = bestresponse:absent(Name, Arity, Where)
    ).

checked_argument(_, _, data, Argument, Argument).
checked_argument(Module, Where, goal, Argument, Checked) :- checked(Argument, Module, Where, Checked).
checked_argument(Module, _, closure(Extra), Argument, Checked) :- checked_closure(Argument, Extra, Module, Checked).

checked_closure(Closure, Extra, Module, Checked) :-
    (   callable(Closure), Closure \= (_:_), functor(Closure, Name, Arity), Total is Arity + Extra,
        functor(Goal, Name, Total), \+ control(Goal), \+ arithmetic(Goal, 0, _),
        ( defines(Module, Name, Total) -> true ; allowed(Name, Total), \+ meta(Goal, _) )
    ->  Checked = Closure
    ;   Checked = bestresponse:run(Module, Closure)
    ).

run(Module, Goal) :-
    ( var(Goal) -> throw(error(instantiation_error, 0)) ; true ),
    checked(Goal, Module, 0, Checked),
    call(Module:Checked).
run(Module, Closure, A) :- extended(Closure, [A], Goal), run(Module, Goal).
run(Module, Closure, A, B) :- extended(Closure, [A, B], Goal), run(Module, Goal).
run(Module, Closure, A, B, C) :- extended(Closure, [A, B, C], Goal), run(Module, Goal).
run(Module, Closure, A, B, C, D) :- extended(Closure, [A, B, C, D], Goal), run(Module, Goal).
run(Module, Closure, A, B, C, D, E) :- extended(Closure, [A, B, C, D, E], Goal), run(Module, Goal).
run(Module, Closure, A, B, C, D, E, F) :- extended(Closure, [A, B, C, D, E, F], Goal), run(Module, Goal).

extended(Closure, Extra, Goal) :-
    must_be(callable, Closure),
    Closure =.. [Name|Arguments],
    append(Arguments, Extra, All),
    Goal =.. [Name|All].

absent(Name, Arity, Where) :- throw(error(existence_error(procedure, Name/Arity), Where)).

% SWI-Prolog 9.0 moves unifications that follow a head into it, and there loses one of X = f(Y), Y = g(X).
unify(A, B) :- A = B.

% ---- arithmetic: exact, with the messages and limits of the embedded engine

arithmetic(X is E, Where, bestresponse:compute(E, X, Where)).
arithmetic(A =:= B, Where, bestresponse:numbers(A, B, =:=, Where)).
arithmetic(A =\= B, Where, bestresponse:numbers(A, B, =\=, Where)).
arithmetic(A < B, Where, bestresponse:numbers(A, B, <, Where)).
arithmetic(A > B, Where, bestresponse:numbers(A, B, >, Where)).
arithmetic(A =< B, Where, bestresponse:numbers(A, B, =<, Where)).
arithmetic(A >= B, Where, bestresponse:numbers(A, B, >=, Where)).
arithmetic(between(Low, High, Value), Where, bestresponse:count(Low, High, Value, Where)).
arithmetic(random_between(Low, High, Value), Where, bestresponse:draw(Low, High, Value, Where)).

compute(Expression, Value, Where) :- evaluate(Expression, 0, Number, Where), Value = Number.

numbers(A, B, Test, _) :-
    integer(A), integer(B), !,
    comparison(Test, A, B).
numbers(A, B, Test, Where) :-
    evaluate(A, 0, X, Where),
    evaluate(B, 0, Y, Where),
    comparison(Test, X, Y).

comparison(=:=, X, Y) :- X =:= Y.
comparison(=\=, X, Y) :- X =\= Y.
comparison(<, X, Y) :- X < Y.
comparison(>, X, Y) :- X > Y.
comparison(=<, X, Y) :- X =< Y.
comparison(>=, X, Y) :- X >= Y.

count(Low, High, Value, Where) :-
    bound(Low, 'the lower bound', Where),
    ( ( High == inf ; High == infinite ) -> true ; bound(High, 'the upper bound', Where) ),
    ( var(Value) -> true ; bound(Value, 'the value', Where) ),
    between(Low, High, Value).

draw(Low, High, Value, Where) :-
    bound(Low, 'the lower bound', Where),
    bound(High, 'the upper bound', Where),
    High >= Low,
    random_between(Low, High, Number),
    Value = Number.

bound(Number, What, Where) :- ( integer(Number) -> true ; throw(error(no_bound(What, Number), Where)) ).

% What is computed most comes first: by the rules below a sum takes a dozen steps.
evaluate(Expression, _, Value, _) :- plain(Expression, Value), !.
evaluate(Expression, Depth, Value, Where) :-
    (   rational(Expression)
    ->  Value = Expression
    ;   var(Expression)
    ->  throw(error(instantiation_error, Where))
    ;   compound(Expression), Expression \= [_|_], compound_name_arity(Expression, Name, Arity)
    ->  ( Depth >= 150 -> throw(limit(depth)) ; true ),
        apply(Arity, Name, Expression, Depth, Value, Where),
        short(Value)
    ;   Expression = [_|_]
    ->  throw(error(no_function('[|]', 2), Where))
    ;   throw(error(no_number(Expression), Where))
    ).

plain(A + B, Value) :- integer(A), integer(B), Value is A + B, in_a_word(Value).
plain(A - B, Value) :- integer(A), integer(B), Value is A - B, in_a_word(Value).
plain(A * B, Value) :- integer(A), integer(B), Value is A * B, in_a_word(Value).

in_a_word(Value) :- Value < 4611686018427387904, Value > -4611686018427387904.

apply(2, Name, Expression, Depth, Value, Where) :-
    binary(Name), !,
    Inner is Depth + 1,
    arg(1, Expression, A), evaluate(A, Inner, X, Where),
    arg(2, Expression, B), evaluate(B, Inner, Y, Where),
    binary(Name, X, Y, Value, Where).
apply(1, Name, Expression, Depth, Value, Where) :-
    unary(Name), !,
    Inner is Depth + 1,
    arg(1, Expression, A), evaluate(A, Inner, X, Where),
    unary(Name, X, Value).
apply(Arity, Name, _, _, _, Where) :- throw(error(no_function(Name, Arity), Where)).

short(Value) :-
    (   integer(Value), in_a_word(Value)
    ->  true
    ;   size(Value, Bits), Bits =< 10000
    ->  true
    ;   throw(limit(number))
    ).

size(Value, Bits) :-
    (   integer(Value)
    ->  length_of(Value, Bits)
    ;   N is numerator(Value), D is denominator(Value), length_of(N, A), length_of(D, B), Bits is A + B
    ).

length_of(Number, Bits) :- ( Number =:= 0 -> Bits = 0 ; Bits is msb(abs(Number)) + 1 ).

binary(+). binary(-). binary(*). binary(/). binary(rdiv). binary(//). binary(div). binary(mod). binary(rem).
binary(**). binary(^). binary(max). binary(min). binary(gcd).

binary(+, X, Y, V, _) :- V is X + Y.
binary(-, X, Y, V, _) :- V is X - Y.
binary(*, X, Y, V, _) :- V is X * Y.
binary(/, X, Y, V, Where) :- divisor(Y, Where), V is X rdiv Y.
binary(rdiv, X, Y, V, Where) :- divisor(Y, Where), V is X rdiv Y.
binary(//, X, Y, V, Where) :- whole_division(X, Y, Where), V is X // Y.
binary(div, X, Y, V, Where) :- whole_division(X, Y, Where), V is X div Y.
binary(mod, X, Y, V, Where) :- whole_division(X, Y, Where), V is X mod Y.
binary(rem, X, Y, V, Where) :- whole_division(X, Y, Where), V is X rem Y.
binary(**, X, Y, V, Where) :- power(X, Y, V, Where).
binary(^, X, Y, V, Where) :- power(X, Y, V, Where).
binary(max, X, Y, V, _) :- ( Y > X -> V = Y ; V = X ).
binary(min, X, Y, V, _) :- ( Y < X -> V = Y ; V = X ).
binary(gcd, X, Y, V, Where) :- whole(X, Where), whole(Y, Where), V is gcd(X, Y).

divisor(Y, Where) :- ( Y =:= 0 -> throw(error(evaluation_error(zero_divisor), Where)) ; true ).
whole(X, Where) :- ( integer(X) -> true ; throw(error(no_integer(X), Where)) ).
whole_division(X, Y, Where) :- whole(X, Where), divisor(Y, Where), whole(Y, Where).

power(X, Y, V, Where) :-
    whole(Y, Where),
    (   Y < 0
    ->  divisor(X, Where), Base is 1 rdiv X, Exponent is -Y
    ;   Base = X, Exponent = Y
    ),
    (   Base =:= 0
    ->  ( Exponent =:= 0 -> V = 1 ; V = 0 )
    ;   Base =:= 1
    ->  V = 1
    ;   Base =:= -1
    ->  ( Exponent mod 2 =:= 0 -> V = 1 ; V = -1 )
    ;   size(Base, Bits), Bits * Exponent > 20000
    ->  throw(limit(number))
    ;   V is Base ** Exponent
    ).

unary(-). unary(+). unary(abs). unary(sign). unary(floor). unary(ceiling). unary(round). unary(integer).
unary(truncate). unary(numerator). unary(denominator).

unary(-, X, V) :- V is -X.
unary(+, X, X).
unary(abs, X, V) :- V is abs(X).
unary(sign, X, V) :- ( X > 0 -> V = 1 ; X < 0 -> V = -1 ; V = 0 ).
unary(floor, X, V) :- V is floor(X).
unary(ceiling, X, V) :- V is ceiling(X).
unary(round, X, V) :- rounded(X, V).
unary(integer, X, V) :- rounded(X, V).
unary(truncate, X, V) :- V is truncate(X).
unary(numerator, X, V) :- V is numerator(X).
unary(denominator, X, V) :- V is denominator(X).

rounded(X, V) :- ( X >= 0 -> V is floor(X + 1r2) ; V is -floor(1r2 - X) ).

control((_, _)).
control((_ ; _)).
control((_ -> _)).
control((_ *-> _)).
control(\+ _).
control(!).
control(true).
control(fail).
control(false).
control(_ :- _).
control(_ --> _).
control(_:_).

% meta(?Goal, -Kinds): which arguments are goals, or closures that are called with so many more arguments.
meta(call(_), [goal]).
meta(once(_), [goal]).
meta(ignore(_), [goal]).
meta(not(_), [goal]).
meta(forall(_, _), [goal, goal]).
meta(findall(_, _, _), [data, goal, data]).
meta(call(_, _), [closure(1), data]).
meta(call(_, _, _), [closure(2), data, data]).
meta(call(_, _, _, _), [closure(3), data, data, data]).
meta(call(_, _, _, _, _), [closure(4), data, data, data, data]).
meta(call(_, _, _, _, _, _), [closure(5), data, data, data, data, data]).
meta(call(_, _, _, _, _, _, _), [closure(6), data, data, data, data, data, data]).
meta(maplist(_, _), [closure(1), data]).
meta(maplist(_, _, _), [closure(2), data, data]).
meta(maplist(_, _, _, _), [closure(3), data, data, data]).
meta(maplist(_, _, _, _, _), [closure(4), data, data, data, data]).
meta(include(_, _, _), [closure(1), data, data]).
meta(exclude(_, _, _), [closure(1), data, data]).
meta(partition(_, _, _, _), [closure(1), data, data, data]).
meta(foldl(_, _, _, _), [closure(3), data, data, data]).
meta(foldl(_, _, _, _, _), [closure(4), data, data, data, data]).
meta(convlist(_, _, _), [closure(2), data, data]).

% allowed(?Name, ?Arity): neither reads nor changes anything outside its arguments.
allowed(=, 2). allowed(\=, 2). allowed(==, 2). allowed(\==, 2). allowed(var, 1). allowed(nonvar, 1). allowed(atom, 1).
allowed(number, 1). allowed(integer, 1). allowed(atomic, 1). allowed(compound, 1). allowed(is_list, 1).
allowed(ground, 1). allowed('fresh copy', 2). allowed('filled copy', 3). allowed('first argument', 2).
allowed(Name, Arity) :- library_defines(Name, Arity).

% What SWI-Prolog lets nobody define, and what its compiler takes as a construct of its own, whoever defines it.
:- forall(( predicate_property(system:Head, iso)
           ; control(Head)
           ; member(Head, ['|'(_, _), '@'(_, _), '=>'(_, _), '?=>'(_, _), (:- _), (?- _)])
           ),
           protect((Head :- true))).

end_of_file.
