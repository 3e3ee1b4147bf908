"""Which predicates a game program may call, define or never mention: the tables behind the gate.

Everything not listed is denied. Indicators are written `name/arity`.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "CALLABLE",
    "CONTROL",
    "FORBIDDEN",
    "FORBIDDEN_EXACT",
    "GAME",
    "GOAL_ARGUMENTS",
    "HARMLESS_LIBRARIES",
    "LIBRARY",
    "OUTPUT",
    "PROTECTED",
    "SOLVER",
    "STANDARD",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONTROL: Final = _words(",/2 ;/2 ->/2 \\+/1 not/1 !/0 true/0 fail/0 false/0 call/1 once/1 ignore/1 forall/2")

STANDARD: Final = _words(
    """
    =/2 \\=/2 ==/2 \\==/2 @</2 @>/2 @=</2 @>=/2 compare/3 is/2 =:=/2 =\\=/2 </2 >/2 =</2 >=/2
    var/1 nonvar/1 atom/1 number/1 integer/1 float/1 atomic/1 compound/1 callable/1 is_list/1 ground/1
    functor/3 arg/3 =../2 copy_term/2 term_variables/2 findall/3 bagof/3 setof/3
    atom_length/2 atom_chars/2 atom_codes/2 char_code/2 atom_concat/3 sub_atom/5 number_codes/2 number_chars/2
    keysort/2 sort/2 msort/2 sort/4 length/2
    """
)
"""Built into every Prolog: may be called, must not be redefined."""

LIBRARY: Final = _words(
    """
    rational/1 string/1 memberchk/2 member/2 append/3 append/2 reverse/2 nth0/3 nth1/3 last/2 sum_list/2 sumlist/2
    max_list/2 min_list/2 max_member/2 min_member/2 numlist/3 list_to_set/2 subtract/3 intersection/3 union/3 delete/3
    select/3 selectchk/3 exclude/3 include/3 partition/4 permutation/2 flatten/2 same_length/2
    pairs_keys_values/3 pairs_keys/2 pairs_values/2 between/3 succ/2 plus/3 findall/4 aggregate_all/3 predsort/3
    maplist/2 maplist/3 maplist/4 maplist/5 maplist/6 foldl/4 foldl/5 foldl/6 subsumes_term/2 list_to_ord_set/2
    atom_number/2 atomic_list_concat/2 atomic_list_concat/3 upcase_atom/2 downcase_atom/2
    atom_string/2 number_string/2 string_concat/3 string_length/2 string_to_atom/2 string_chars/2 string_codes/2
    random/1 random/3 random_between/3 random_member/2 call/2 call/3 call/4 call/5 call/6 call/7 highest/2
    """
)
"""May be called, and redefined by a program."""

OUTPUT: Final = _words("write/1 print/1 writeln/1 writeq/1 write_canonical/1 nl/0 tab/1 format/1 format/2")
"""A game has nothing to print: these calls succeed and do nothing."""

GOAL_ARGUMENTS: Final[dict[str, dict[int, int]]] = {
    ",/2": {0: 0, 1: 0}, ";/2": {0: 0, 1: 0}, "->/2": {0: 0, 1: 0},
    "\\+/1": {0: 0}, "not/1": {0: 0}, "call/1": {0: 0}, "once/1": {0: 0}, "ignore/1": {0: 0}, "forall/2": {0: 0, 1: 0},
    "findall/3": {1: 0}, "findall/4": {1: 0}, "aggregate_all/3": {1: 0}, "bagof/3": {1: 0}, "setof/3": {1: 0},
    "include/3": {0: 1}, "exclude/3": {0: 1}, "partition/4": {0: 1}, "predsort/3": {0: 3},
    **{f"maplist/{n}": {0: n - 1} for n in range(2, 7)},
    **{f"foldl/{n}": {0: n - 1} for n in range(4, 7)},
    **{f"call/{n}": {0: n - 1} for n in range(2, 8)},
}  # fmt: skip
"""For each predicate that calls goals: which argument is a goal, and how many arguments are added to it."""

SOLVER: Final = _words(
    "game/2 holds/2 initialise/2 table_row/2 table_rows/2 table_replay/2 table_players/2 published_cell/4"
)
"""Defined by the solver (see `solver_language`): may be called, must not be defined."""

GAME: Final = _words(
    "initial/1 initially/2 legal/2 possible/2 effect/3 abnormal/3 final/1 finally/2 opposite_move/2 select/4"
)
"""What a game or strategy defines; the solver takes a missing one as having no clause."""

PROTECTED: Final = CONTROL | STANDARD | OUTPUT | SOLVER | frozenset(GOAL_ARGUMENTS)
CALLABLE: Final = CONTROL | STANDARD | LIBRARY | OUTPUT | SOLVER

HARMLESS_LIBRARIES: Final = _words("lists apply aggregate random pairs ordsets solution_sequences")

FORBIDDEN: Final = _words(
    """
    shell halt consult load_files ensure_loaded use_module module reexport see seen tell
    told read read_term assert asserta assertz retract retractall abolish clause catch catch_with_backtrace throw
    thread_create thread_send_message thread_get_message process_create fork exec getenv setenv unsetenv
    tcp_connect tcp_socket tcp_bind socket working_directory chdir delete_file rename_file make_directory
    delete_directory directory_files exists_file term_to_atom atom_to_term term_string read_term_from_atom sformat op
    with_output_to
    nb_setval nb_getval b_setval b_getval setarg nb_setarg recorda recordz recorded erase sleep repeat abort break
    prolog at_halt setup_call_cleanup call_cleanup setup_call_catcher_cleanup use_foreign_library load_foreign_library
    open_shared_object phrase call_dcg tnot tabling freeze dif when prolog_load_context set_prolog_flag
    current_prolog_flag create_prolog_flag set_stream set_input set_output stream_property current_op current_predicate
    predicate_property current_module set_module expand_term expand_goal term_expansion goal_expansion
    user_term_expansion portray message_hook prolog_cut_to prolog_current_frame garbage_collect statistics get_time
    call_with_time_limit call_with_depth_limit call_with_inference_limit engine_create engine_next transaction snapshot
    redefine_system_predicate compile_predicates print_message message_to_string tmp_file tmp_file_stream
    put_attr get_attr del_attr copy_predicate_clauses unify_with_occurs_check numbervars end_of_file write_term
    flush_output ttyflush get_char peek_char get_byte put_char put_byte prompt wildcard_match absolute_file_name
    style_check initialization edit ls cd pwd listing portray_clause trace spy debug nodebug thread_self thread_join
    mutex_create with_mutex on_signal sig_atomic apropos help tabling_statistics garbage_collect_atoms undo
    """
)
"""Names that reach the machine, the program text or the control of the engine: neither called nor defined."""

FORBIDDEN_EXACT: Final = _words("open/3 open/4 close/1 close/2 append/1 table/1 flag/3 include/1 apply/2 make/0 kill/2")
"""The same for names that a game may well use with another number of arguments."""
