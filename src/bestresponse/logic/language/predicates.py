"""Which predicates a game program may call, define or never mention: the tables behind the gate.

Everything not listed is denied. Indicators are written `name/arity`.
"""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONTROL: Final = _words(",/2 ;/2 ->/2 *->/2 \\+/1 not/1 !/0 true/0 fail/0 false/0 call/1 once/1 ignore/1 forall/2")

STANDARD: Final = _words(
    """
    =/2 \\=/2 ==/2 \\==/2 @</2 @>/2 @=</2 @>=/2 compare/3 is/2 =:=/2 =\\=/2 </2 >/2 =</2 >=/2
    var/1 nonvar/1 atom/1 number/1 integer/1 atomic/1 compound/1 is_list/1 ground/1 findall/3
    keysort/2 sort/2 msort/2 sort/4 length/2
    """
)
"""Built into every Prolog: may be called, must not be redefined."""

RANDOM: Final = _words("random/3 random_between/3 random_member/2 maybe/0")
"""What only a strategy may call: a game whose rules are drawn by lot would be another one each time."""

LIBRARY: Final = RANDOM | _words(
    """
    memberchk/2 member/2 append/3 append/2 reverse/2 nth0/3 nth1/3 last/2 sum_list/2 sumlist/2
    max_list/2 min_list/2 max_member/2 min_member/2 numlist/3 list_to_set/2 subtract/3 intersection/3 union/3 delete/3
    select/3 selectchk/3 exclude/3 include/3 partition/4 permutation/2 flatten/2 same_length/2
    pairs_keys_values/3 pairs_keys/2 pairs_values/2 between/3 succ/2 plus/3 aggregate_all/3 list_to_ord_set/2
    maplist/2 maplist/3 maplist/4 maplist/5 foldl/4 foldl/5 subset/2 nextto/3 is_set/1 convlist/3 dif/2
    call/2 call/3 call/4 call/5 call/6 call/7 highest/2
    """
)
"""May be called, and redefined by a program."""

_TEXT: Final = "a game needs no text: give things structured names, such as offer(3)"
_INSPECTION: Final = "match the structure itself, with = or in the head of a clause"
_EXACT: Final = "every number here is exact: use number/1 or integer/1"
_CHANCE: Final = "let nature move: chance(Move, Probability, Situation)"
_SETS: Final = "use findall/3, and sort/2 for a list without repetitions"

DROPPED: Final = {
    **dict.fromkeys(
        _words(
            """
            atom_length atom_chars atom_codes char_code atom_concat sub_atom number_codes number_chars atom_number
            atomic_list_concat upcase_atom downcase_atom atom_string number_string string_concat string_length
            string_to_atom string_chars string_codes string_lower string_upper split_string sub_string string_code
            text_concat text_to_string term_to_atom term_string sformat atomics_to_string string char_type code_type
            """
        ),
        _TEXT,
    ),
    **dict.fromkeys(
        _words("functor arg =.. copy_term term_variables callable subsumes_term =@= \\=@= ?= unify_with_occurs_check"),
        _INSPECTION,
    ),
    **dict.fromkeys(("float", "rational"), _EXACT),
    **dict.fromkeys(("random", "random_permutation", "random_select", "random_float", "set_random"), _CHANCE),
    **dict.fromkeys(("bagof", "setof"), _SETS),
    "findall": "use findall/3 and append/3",
    "predsort": "use sort/4 or keysort/2",
    "nth0": "use nth0/3 and select/3",
    "nth1": "use nth1/3 and select/3",
    "maplist": "maplist takes up to four lists",
    "foldl": "foldl takes one or two lists",
    "aggregate_all": "use aggregate_all/3",
    **dict.fromkeys(
        ("#=", "#<", "#>", "#=<", "#>=", "#\\=", "ins", "in", "label"), "use is/2, between/3 and comparison"
    ),
}
"""Predicates of Prolog that are no part of the language, by name, and what to use in their place."""

OUTPUT: Final = _words(
    """
    write/1 print/1 writeln/1 writeq/1 write_canonical/1 nl/0 tab/1 format/1 format/2 write/2 print/2 writeln/2 writeq/2
    write_canonical/2 nl/1 tab/2 format/3 write_term/2 write_term/3 portray_clause/1 listing/0 listing/1 put_char/1
    put_char/2 print_message/2 flush_output/0 flush_output/1
    """
)
"""A game has nothing to print: these calls succeed and do nothing."""

FUNCTIONS: Final = _words(
    "+/2 -/2 */2 //2 ///2 mod/2 rem/2 div/2 rdiv/2 **/2 ^/2 max/2 min/2 gcd/2"
    " -/1 +/1 abs/1 sign/1 floor/1 ceiling/1 round/1 truncate/1 integer/1 numerator/1 denominator/1"
)
"""Arithmetic. All of it is exact: 7/2 is a fraction, and no function leaves the fractions."""

GOAL_ARGUMENTS: Final[dict[str, dict[int, int]]] = {
    ",/2": {0: 0, 1: 0}, ";/2": {0: 0, 1: 0}, "->/2": {0: 0, 1: 0}, "*->/2": {0: 0, 1: 0},
    "\\+/1": {0: 0}, "not/1": {0: 0}, "call/1": {0: 0}, "once/1": {0: 0}, "ignore/1": {0: 0}, "forall/2": {0: 0, 1: 0},
    "findall/3": {1: 0}, "aggregate_all/3": {1: 0},
    "include/3": {0: 1}, "exclude/3": {0: 1}, "convlist/3": {0: 2}, "partition/4": {0: 1},
    **{f"maplist/{n}": {0: n - 1} for n in range(2, 6)},
    **{f"foldl/{n}": {0: n - 1} for n in range(4, 6)},
    **{f"call/{n}": {0: n - 1} for n in range(2, 8)},
}  # fmt: skip
"""For each predicate that calls goals: which argument is a goal, and how many arguments are added to it."""

SOLVER: Final = _words("game/2 holds/2 initialise/2")
"""Defined by the solver (see `solver_language`): may be called, must not be defined."""

QUESTIONS: Final = _words("table_row/2 table_rows/2 table_replay/2 table_play/2")
"""What is asked about a whole game, by the solver too: a game that asked it of itself would never come to an end, and
begin to count its steps anew with every position."""

GAME: Final = _words(
    "initial/1 initially/2 legal/2 possible/2 effect/3 abnormal/3 final/1 finally/2 opposite_move/2 select/4"
    " chance/3 sees/3"
)
"""What a game or strategy defines; the solver takes a missing one as having no clause."""

PROTECTED: Final = CONTROL | STANDARD | SOLVER | frozenset(GOAL_ARGUMENTS)
CALLABLE: Final = CONTROL | STANDARD | LIBRARY | OUTPUT | SOLVER

HARMLESS_LIBRARIES: Final = _words(
    """
    lists apply aggregate random pairs ordsets solution_sequences yall error debug strings assoc option gensym terms
    occurs ugraphs dicts readutil apply_macros arithmetic dif nb_set rbtrees sort varnumbers when date ansi_term clpfd
    """
)
"""Loading one of these does nothing by itself; whether what a program calls of it is there is seen at the call."""

FORBIDDEN: Final = _words(
    """
    shell halt consult load_files ensure_loaded use_module module reexport see seen tell
    told read read_term assert asserta assertz retract retractall abolish clause catch catch_with_backtrace throw
    thread_create thread_send_message thread_get_message process_create fork exec getenv setenv unsetenv
    tcp_connect tcp_socket tcp_bind socket working_directory chdir delete_file rename_file make_directory
    delete_directory directory_files exists_file
    atom_to_term read_term_from_atom op
    with_output_to
    nb_setval nb_getval b_setval b_getval setarg nb_setarg recorda recordz recorded erase sleep repeat abort break
    prolog at_halt setup_call_cleanup call_cleanup setup_call_catcher_cleanup use_foreign_library load_foreign_library
    open_shared_object phrase call_dcg tnot tabling freeze when prolog_load_context set_prolog_flag
    current_prolog_flag create_prolog_flag set_stream set_input set_output stream_property current_op current_predicate
    predicate_property current_module set_module expand_term expand_goal term_expansion goal_expansion
    user_term_expansion portray message_hook prolog_cut_to prolog_current_frame garbage_collect statistics get_time
    call_with_time_limit call_with_depth_limit call_with_inference_limit engine_create engine_next transaction snapshot
    redefine_system_predicate compile_predicates message_to_string tmp_file tmp_file_stream
    put_attr get_attr del_attr copy_predicate_clauses numbervars end_of_file
    ttyflush get_char peek_char get_byte put_byte prompt wildcard_match absolute_file_name
    style_check initialization edit ls cd pwd trace spy debug nodebug thread_self thread_join
    mutex_create with_mutex on_signal sig_atomic apropos help tabling_statistics garbage_collect_atoms undo
    """
)
"""Names that reach the machine, the program text or the control of the engine: neither called nor defined."""

FORBIDDEN_EXACT: Final = _words("open/3 open/4 close/1 close/2 append/1 table/1 flag/3 include/1 apply/2 make/0 kill/2")
"""The same for names that a game may well use with another number of arguments."""

EVERYDAY: Final = _words(
    """
    abort append apply apropos break catch cd clause close consult debug edit erase exec exists_file flag fork freeze
    halt help include kill ls make module op open phrase portray prolog prompt pwd read recorded repeat retract see
    seen sleep snapshot socket spy statistics tabling table tell throw told tnot trace transaction undo when
    """
)
"""Forbidden names that are words of a story too: a game may define predicates of its own by these names."""

CORE: Final = _words(
    """
    abolish/1 acyclic_term/1 asserta/1 assertz/1 at_end_of_stream/0 at_end_of_stream/1 catch/3 char_conversion/2
    clause/2 close/1 close/2 current_char_conversion/2 current_input/1 current_op/3 current_output/1 current_predicate/1
    current_prolog_flag/2 discontiguous/1 dynamic/1 get_byte/1 get_byte/2 get_char/1 get_char/2 get_code/1 get_code/2
    halt/0 halt/1 initialization/1 message_queue_create/2 message_queue_destroy/1 message_queue_property/2 multifile/1
    mutex_create/2 mutex_destroy/1 mutex_lock/1 mutex_property/2 mutex_trylock/1 mutex_unlock/1 numbervars/3 op/3
    open/3 open/4 peek_byte/1 peek_byte/2 peek_char/1 peek_char/2 peek_code/1 peek_code/2 phrase/2 phrase/3
    predicate_property/2 put_byte/1 put_byte/2 put_code/1 put_code/2 read/1 read/2 read_term/2 read_term/3 repeat/0
    retract/1 retractall/1 set_input/1 set_output/1 set_prolog_flag/2 set_stream_position/2 stream_property/2
    thread_create/3 thread_detach/1 thread_get_message/1 thread_get_message/2 thread_get_message/3 thread_peek_message/1
    thread_peek_message/2 thread_property/2 thread_self/1 thread_send_message/2 thread_signal/2 throw/1
    unify_with_occurs_check/2 with_mutex/2 call/8 flush_output/0 flush_output/1 nl/0 nl/1 put_char/1 put_char/2 write/1
    write/2 write_canonical/1 write_canonical/2 write_term/2 write_term/3 writeq/1 writeq/2
    functor/3 arg/3 =../2 copy_term/2 term_variables/2 bagof/3 setof/3 float/1 callable/1 subsumes_term/2 atom_length/2
    atom_chars/2 atom_codes/2 char_code/2 atom_concat/3 sub_atom/5 number_codes/2 number_chars/2
    """
)
"""Protected by SWI-Prolog: no program can define them, whatever it means by the name."""
