% The worker inside SWI-Prolog: games as modules, questions in, answers out.
%
% A request is one term on a line, `request(Token, Length, What)`, followed by Length characters of program text or of
% goals. The reply is the token on a line, one term a line, and the token again. Tokens are drawn afresh by the asking
% side, so nothing a program prints can pass for a reply (and what a program prints goes nowhere).
%
% A program is data here: its clauses are read as terms and every goal in them is looked at before it is stored. What is
% neither defined by the program nor in `allowed/2` below becomes an existence error; a goal that is known only at run
% time is looked at when it is called. No directive runs, no term is expanded, no module can be named.

:- module(bestresponse, [serve/0]).
:- set_prolog_flag(autoload, false).  % libraries load what they need now: later no file can be opened
:- use_module(library(apply)).
:- use_module(library(error)).
:- use_module(library(lists)).
:- use_module(library(terms), [term_size/2]).

:- set_module(bestresponse_games:base(system)).
:- bestresponse_games:use_module(library(lists)).
:- bestresponse_games:use_module(library(apply)).
:- bestresponse_games:use_module(library(aggregate), [aggregate_all/3, aggregate_all/4]).
:- bestresponse_games:use_module(library(random)).
:- bestresponse_games:use_module(library(ordsets), [list_to_ord_set/2]).
:- bestresponse_games:use_module(library(pairs)).
:- bestresponse_games:use_module(library(sort), [predsort/3]).
:- sort:use_module(library(error)).  % it relies on autoloading

% Two old names that SWI-Prolog keeps in a library of its own, and one that not every version has.
bestresponse_games:sumlist(List, Sum) :- lists:sum_list(List, Sum).
bestresponse_games:string_to_atom(String, Atom) :- system:atom_string(Atom, String).
% Without waiting for variables to become known: where that matters, it is an error.
bestresponse_games:dif(A, B) :- ( A \= B -> true ; A == B -> fail ; throw(error(instantiation_error, _)) ).
:- if(\+ current_predicate(apply:maplist/6)).
:- meta_predicate(bestresponse_games:maplist(5, ?, ?, ?, ?, ?)).
bestresponse_games:maplist(Closure, As, Bs, Cs, Ds, Es) :- bestresponse:map_five(As, Bs, Cs, Ds, Es, Closure).
:- endif.

map_five([], [], [], [], [], _).
map_five([A|As], [B|Bs], [C|Cs], [D|Ds], [E|Es], Closure) :-
    call(Closure, A, B, C, D, E),
    map_five(As, Bs, Cs, Ds, Es, Closure).

:- dynamic(defines/3).         % defines(Module, Name, Arity): what a game may call by its own right
:- dynamic(solver_clause/3).   % solver_clause(Name, Arity, Clause): what every game has besides; trusted, given once
:- dynamic(solver_defines/2).
:- dynamic(solver_own/2).      % solver_own(Name, Arity): what of that every game needs a copy of
:- dynamic(protected/2).       % protected(Name, Arity): what SWI-Prolog itself lets nobody define

:- forall(( predicate_property(system:Head, iso), functor(Head, Name, Arity) ), assertz(protected(Name, Arity))).

% ---- the loop

serve :-
    set_prolog_flag(generate_debug_info, false),
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

perform(solver(Seed), Text, [loaded]) :-
    set_random(seed(Seed)),
    open_string(Text, Stream),
    clauses(Stream, Clauses),
    maplist(trust, Clauses),
    share_helpers.
perform(load(Module), Text, [loaded]) :-
    load(Module, Text).
perform(unload(Module), _, [unloaded]) :-
    unload(Module).
perform(ask(Module, Count, Answers, Steps, Size), Text, Results) :-
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
    origin(Context, Where).
failure(Ball, error(Ball, unknown)).

unqualified(existence_error(procedure, _:Indicator), existence_error(procedure, Indicator)) :- !.
unqualified(Formal, Formal).

origin(Context, Name/Arity) :-
    nonvar(Context), Context = context(Indicator, _), nonvar(Indicator), strip_module(Indicator, _, Name/Arity), !.
origin(_, unknown).

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
    checked(Goal, Module, Checked),
    call_with_inference_limit(findnsols(Answers, Values, Module:Checked, Found), Steps, Outcome),
    !,
    (   Outcome == inference_limit_exceeded
    ->  Result = limit(steps)
    ;   Result = answers(Found)
    ).

read_data(Stream, Term) :-
    read_term(Stream, Term, [ module(bestresponse_games), syntax_errors(error), double_quotes(string),
                              back_quotes(codes), dotlists(false), var_prefix(false), quasi_quotations(_) ]).

% ---- programs

load(Module, Text) :-
    unload(Module),
    set_module(Module:base(bestresponse_games)),
    open_string(Text, Stream),
    clauses(Stream, Clauses),
    catch(define_all(Module, Clauses), Error, ( unload(Module), throw(Error) )).

define_all(Module, Clauses) :-
    maplist(declare(Module), Clauses),
    forall(solver_own(Name, Arity), add_solver(Module, Name, Arity)),
    maplist(store(Module), Clauses).

add_solver(Module, Name, Arity) :-
    assertz(defines(Module, Name, Arity)),
    forall(solver_clause(Name, Arity, Clause), assertz(Module:Clause)).

% What does not lead to any predicate of a game is the same for all and there once.
share_helpers :-
    forall(( solver_defines(Name, Arity), about_games(Name, Arity, []) ), assertz(solver_own(Name, Arity))),
    forall(( solver_clause(Name, Arity, Clause), \+ solver_own(Name, Arity) ), assertz(bestresponse_games:Clause)).

about_games(Name, Arity, Seen) :-
    \+ memberchk(Name/Arity, Seen),
    solver_clause(Name, Arity, (_ :- Body)),
    called(Body, Goal),
    functor(Goal, Called, Count),
    (   solver_defines(Called, Count)
    ->  about_games(Called, Count, [Name/Arity|Seen])
    ;   \+ allowed(Called, Count), \+ control(Goal)
    ), !.

called(Body, Goal) :-
    Body =.. [_|Parts],
    (   ( control(Body) ; meta(Body, _) )
    ->  member(Part, Parts), compound(Part), called(Part, Goal)
    ;   Goal = Body
    ).

trust(Clause) :-
    ( Clause = (Head :- _) -> true ; Head = Clause ),
    functor(Head, Name, Arity),
    assertz(solver_clause(Name, Arity, Clause)),
    ( solver_defines(Name, Arity) -> true ; assertz(solver_defines(Name, Arity)) ).

unload(Module) :-
    (   defines(Module, _, _)
    ->  forall(retract(defines(Module, Name, Arity)), catch(abolish(Module:Name/Arity), _, true)),
        garbage_collect_clauses
    ;   true
    ).

clauses(Stream, Clauses) :-
    read_data(Stream, Clause),
    (   Clause == end_of_file
    ->  Clauses = []
    ;   Clauses = [Clause|Rest],
        clauses(Stream, Rest)
    ).

declare(_, Clause) :- var(Clause), !, throw(error(instantiation_error, _)).
declare(_, (:- discontiguous(_))) :- !.
declare(Module, (:- dynamic(Specs))) :- !, declare_all(Specs, Module).
declare(_, (:- Directive)) :- !, throw(error(permission_error(execute, directive, Directive), _)).
declare(_, (?- Directive)) :- !, throw(error(permission_error(execute, directive, Directive), _)).
declare(_, (_ --> _)) :- !, throw(error(permission_error(store, grammar, (-->)/2), _)).
declare(Module, (Head :- _)) :- !, define(Head, Module).
declare(Module, Head) :- define(Head, Module).

declare_all(Specs, _) :- var(Specs), !, throw(error(instantiation_error, _)).
declare_all((A, B), Module) :- !, declare_all(A, Module), declare_all(B, Module).
declare_all([], _) :- !.
declare_all([A|B], Module) :- !, declare_all(A, Module), declare_all(B, Module).
declare_all(Name/Arity, Module) :-
    must_be(atom, Name), must_be(between(0, 64), Arity),
    functor(Head, Name, Arity), define(Head, Module), dynamic(Module:Name/Arity).

define(Head, Module) :-
    must_be(callable, Head),
    functor(Head, Name, Arity),
    (   defines(Module, Name, Arity)
    ->  true
    ;   reserved(Head)
    ->  throw(error(permission_error(modify, static_procedure, Name/Arity), _))
    ;   assertz(defines(Module, Name, Arity))
    ).

% What the compiler of SWI-Prolog takes as a construct of its own, whoever defines it, what it protects, and the solver.
reserved(Head) :- control(Head).
reserved('|'(_, _)).
reserved('@'(_, _)).
reserved('=>'(_, _)).
reserved('?=>'(_, _)).
reserved(Head) :- functor(Head, Name, _), sub_atom(Name, 0, 1, _, $).
reserved(Head) :- functor(Head, Name, Arity), protected(Name, Arity).
reserved(Head) :- functor(Head, Name, Arity), solver_defines(Name, Arity).

store(_, (:- _)) :- !.
store(Module, (Head :- Body)) :- !, checked(Body, Module, Checked), assertz(Module:(Head :- Checked)).
store(Module, Head) :- assertz(Module:Head).

% ---- goals: what may be called

% checked(+Goal, +Module, -Checked): Checked does what Goal does, and calls only what Module defines or all may call.
checked(Goal, Module, bestresponse:run(Module, Goal)) :- var(Goal), !.
checked((A, B), Module, (A1, B1)) :- !, checked(A, Module, A1), checked(B, Module, B1).
checked((A ; B), Module, (A1 ; B1)) :- !, checked(A, Module, A1), checked(B, Module, B1).
checked((A -> B), Module, (A1 -> B1)) :- !, checked(A, Module, A1), checked(B, Module, B1).
checked((A *-> B), Module, (A1 *-> B1)) :- !, checked(A, Module, A1), checked(B, Module, B1).
checked(\+ A, Module, \+ A1) :- !, checked(A, Module, A1).
checked(Goal, _, Goal) :- control(Goal), Goal \= (_:_), !.
checked(Goal, Module, Checked) :-
    must_be(callable, Goal),
    functor(Goal, Name, Arity),
    (   defines(Module, Name, Arity)
    ->  Checked = Goal
    ;   meta(Goal, Kinds)
    ->  Goal =.. [Name|Arguments],
        maplist(checked_argument(Module), Kinds, Arguments, Checks),
        Checked =.. [Name|Checks]
    ;   allowed(Name, Arity)
    ->  Checked = Goal
    ;   silent(Goal)
    ->  Checked = true
    ;   Checked = bestresponse:absent(Name, Arity)
    ).

checked_argument(_, data, Argument, Argument).
checked_argument(Module, goal, Argument, Checked) :- checked_scope(Argument, Module, Checked).
checked_argument(Module, closure(Extra), Argument, Checked) :- checked_closure(Argument, Extra, Module, Checked).

checked_scope(Goal, Module, Checked) :-
    (   nonvar(Goal), Goal = Variable^Inner
    ->  Checked = Variable^Checked1,
        checked_scope(Inner, Module, Checked1)
    ;   checked(Goal, Module, Checked)
    ).

checked_closure(Closure, Extra, Module, Checked) :-
    (   callable(Closure), Closure \= (_:_), functor(Closure, Name, Arity), Total is Arity + Extra,
        functor(Goal, Name, Total), \+ control(Goal),
        ( defines(Module, Name, Total) -> true ; allowed(Name, Total), \+ meta(Goal, _) )
    ->  Checked = Closure
    ;   Checked = bestresponse:run(Module, Closure)
    ).

run(Module, Goal) :-
    ( var(Goal) -> throw(error(instantiation_error, _)) ; true ),
    checked_scope(Goal, Module, Checked),
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

absent(Name, Arity) :- throw(error(existence_error(procedure, Name/Arity), _)).

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
meta(findall(_, _, _, _), [data, goal, data, data]).
meta(aggregate_all(_, _, _), [data, goal, data]).
meta(aggregate_all(_, _, _, _), [data, data, goal, data]).
meta(setof(_, _, _), [data, goal, data]).
meta(bagof(_, _, _), [data, goal, data]).
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
meta(maplist(_, _, _, _, _, _), [closure(5), data, data, data, data, data]).
meta(include(_, _, _), [closure(1), data, data]).
meta(exclude(_, _, _), [closure(1), data, data]).
meta(partition(_, _, _, _), [closure(1), data, data, data]).
meta(foldl(_, _, _, _), [closure(3), data, data, data]).
meta(foldl(_, _, _, _, _), [closure(4), data, data, data, data]).
meta(foldl(_, _, _, _, _, _), [closure(5), data, data, data, data, data]).
meta(predsort(_, _, _), [closure(3), data, data]).
meta(convlist(_, _, _), [closure(2), data, data]).

% allowed(?Name, ?Arity): neither reads nor changes anything outside its arguments.
allowed(=, 2). allowed(\=, 2). allowed(==, 2). allowed(\==, 2). allowed(@<, 2). allowed(@>, 2). allowed(@=<, 2).
allowed(@>=, 2). allowed(compare, 3). allowed(unify_with_occurs_check, 2). allowed(subsumes_term, 2). allowed(is, 2).
allowed(=:=, 2). allowed(=\=, 2). allowed(<, 2). allowed(>, 2). allowed(=<, 2). allowed(>=, 2). allowed(succ, 2).
allowed(plus, 3). allowed(var, 1). allowed(nonvar, 1). allowed(atom, 1). allowed(number, 1). allowed(integer, 1).
allowed(float, 1). allowed(rational, 1). allowed(atomic, 1). allowed(compound, 1). allowed(callable, 1).
allowed(is_list, 1). allowed(string, 1). allowed(ground, 1). allowed(functor, 3). allowed(arg, 3). allowed(=.., 2).
allowed(copy_term, 2). allowed(term_variables, 2). allowed(atom_codes, 2). allowed(atom_chars, 2).
allowed(char_code, 2). allowed(atom_length, 2). allowed(atom_concat, 3). allowed(sub_atom, 5).
allowed(atom_number, 2). allowed(number_codes, 2). allowed(number_chars, 2). allowed(atom_string, 2).
allowed(upcase_atom, 2). allowed(downcase_atom, 2). allowed(atomic_list_concat, 2). allowed(atomic_list_concat, 3).
allowed(string_concat, 3). allowed(string_length, 2). allowed(string_chars, 2). allowed(string_codes, 2).
allowed(string_to_atom, 2). allowed(number_string, 2). allowed(string_lower, 2). allowed(string_upper, 2).
allowed(sub_string, 5). allowed(split_string, 4). allowed(between, 3). allowed(length, 2). allowed(msort, 2).
allowed(sort, 2). allowed(sort, 4). allowed(keysort, 2). allowed(repeat, 0). allowed(append, 3). allowed(append, 2).
allowed(member, 2). allowed(memberchk, 2). allowed(reverse, 2). allowed(nth0, 3). allowed(nth1, 3). allowed(last, 2).
allowed(select, 3). allowed(selectchk, 3). allowed(subtract, 3). allowed(permutation, 2). allowed(delete, 3).
allowed(sum_list, 2). allowed(sumlist, 2). allowed(max_list, 2). allowed(min_list, 2). allowed(max_member, 2).
allowed(min_member, 2). allowed(numlist, 3). allowed(same_length, 2). allowed(list_to_ord_set, 2).
allowed(list_to_set, 2). allowed(union, 3). allowed(intersection, 3).
allowed(subset, 2). allowed(flatten, 2). allowed(pairs_keys_values, 3). allowed(pairs_keys, 2).
allowed(pairs_values, 2). allowed(random, 1). allowed(random, 3). allowed(random_between, 3).
allowed(random_member, 2). allowed(random_permutation, 2). allowed(random_select, 3). allowed(maybe, 0).
allowed(nextto, 3). allowed(nth0, 4). allowed(nth1, 4). allowed(is_set, 1). allowed(dif, 2). allowed(=@=, 2).
allowed(\=@=, 2). allowed('say nothing', 1). allowed('say nothing', 2). allowed('say nothing', 3).

% silent(?Goal): writing succeeds and shows nothing.
silent(nl).
silent(write(_)).
silent(print(_)).
silent(writeln(_)).
silent(writeq(_)).
silent(write_canonical(_)).
silent(tab(_)).
silent(format(_)).
silent(format(_, _)).
silent(format(_, _, _)).
silent(nl(_)).
silent(write(_, _)).
silent(print(_, _)).
silent(writeln(_, _)).
silent(writeq(_, _)).
silent(write_canonical(_, _)).
silent(tab(_, _)).
silent(write_term(_, _)).
silent(write_term(_, _, _)).
silent(portray_clause(_)).
silent(listing).
silent(listing(_)).
silent(put_char(_)).
silent(put_char(_, _)).
silent(print_message(_, _)).
silent(flush_output).
silent(flush_output(_)).

end_of_file.
