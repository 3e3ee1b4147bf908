"""The reader: what is read, what is refused, and where."""

import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.logic.language.reader import read, read_term
from bestresponse.logic.language.terms import Atom, Struct, Term, Var, list_of, same, write


def canonical(text: str) -> str:
    return write(read_term(text).term)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a :- b, c ; d -> e", "':-'(a,';'(','(b,c),'->'(d,e)))"),
        ("X = -1", "'='(_1,-1)"),
        ("X is - 1 + 2", "is(_1,'+'('-'(1),2))"),
        ("1 - 1", "'-'(1,1)"),
        ("a - (-1)", "'-'(a,-1)"),
        ("1 - 2 - 3", "'-'('-'(1,2),3)"),
        ("2 ^ 3 ^ 4", "'^'(2,'^'(3,4))"),
        ("\\+ a = b", "'\\\\+'('='(a,b))"),
        ("X = \\+ a", "'='(_1,'\\\\+'(a))"),
        (":- dynamic a/1, b/2", "':-'(dynamic(','('/'(a,1),'/'(b,2))))"),
        ("sort(0, @>=, L, M)", "sort(0,'@>=',_1,_2)"),
        ("[a, b|T]", "[a,b|_1]"),
        ("[]", "[]"),
        ("f(- , +)", "f('-','+')"),
        ("'it''s'", "'it\\'s'"),
        ("'sh\\x65\\ll'(x)", "shell(x)"),
        ("0'a", "97"),
        ("0''' ", "39"),
        ("0x1F", "31"),
        ("1.5e3", "1500"),
        ("0.25", "1r4"),
        ("धोखा(ร่วม)", "'धोखा'('ร่วม')"),
        ("1r3", "1r3"),
        ("1_000", "1000"),
        ('"a\\nb"', '"a\\nb"'),
        ("{a, b}", "'{}'(','(a,b))"),
        ("(a | b)", "';'(a,b)"),
        ("16'FF", "255"),
        ("0''", "39"),
        ("0'\\u00e9", "233"),
        ("12r4", "3"),
        ("'caf\\u00e9'", "'café'"),
        ("'\\x41'", "'A'"),
        ("'don\\'t say ''no'' '", "'don\\'t say \\'no\\' '"),
        ("'two\nlines'", "'two\\nlines'"),
        ("X-1", "'-'(_1,1)"),
        ("[1 -1, - 1, -1]", "['-'(1,1),'-'(1),-1]"),
        ("a=(b), c;(d)", "';'(','('='(a,b),c),d)"),
        ("X is(2) mod(3)", "is(_1,mod(2,3))"),
        ("-(1) - f(-(X))", "'-'('-'(1),f('-'(_1)))"),
        ("[0'(, -0'(, (0'(-0'()]", "[40,-40,'-'(40,40)]"),
        ("f(X, f(X) + 1, _, _)", "f(_1,'+'(f(_1),1),_2,_3)"),
        ("f(合作, Énergie, Énergie, ω)", "f('合作',_1,_1,'ω')"),
    ],
)
def test_terms_are_read_as_prolog_reads_them(text: str, expected: str) -> None:
    assert canonical(text) == expected


def test_comments_and_layout_are_skipped() -> None:
    reading = read("% one\n/* two\n lines */ a.%three\nb :-\n  c.")
    assert [(write(clause.term), clause.line, clause.column) for clause in reading.clauses] == [
        ("a", 3, 11),
        ("':-'(b,c)", 4, 1),
    ]
    assert reading.diagnostics == ()


def test_a_clause_keeps_its_text_and_counts_its_variables() -> None:
    clause = read("p(X, Y) :- q(X, _Z).\n").clauses[0]
    assert clause.text == "p(X, Y) :- q(X, _Z)."
    assert clause.variables == (("X", 2), ("Y", 1), ("_Z", 1))


def test_all_syntax_errors_are_reported_at_once_and_good_clauses_are_kept() -> None:
    reading = read("a(1).\nb(2\nc(3).\nFoo(x).\nd(4).\ne(5) :- .\n")
    assert [write(clause.term) for clause in reading.clauses] == ["a(1)", "d(4)"]
    assert [(d.line, d.column, d.message) for d in reading.diagnostics] == [
        (3, 1, "')' or an operator was expected before 'c'"),
        (4, 1, "the variable Foo is used as the name of a predicate"),
        (6, 9, "the clause ends too early; a term was expected"),
    ]
    assert reading.diagnostics[0].hint == "is a full stop or comma missing at the end of line 2?"
    assert reading.diagnostics[1].source_line == "Foo(x)."


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a(x)", "the clause is not ended", "end it with a full stop and a space or new line"),
        ("a(x", "the program ends inside a clause; ')' was expected", "finish the clause"),
        (
            "```prolog\na.\n```",
            "illegal character '`'",
            "remove the Markdown fence around the program",
        ),
        ("a(‘x’).", "illegal character '‘'", "use the plain quote '"),
        ("a('x).\n", 'illegal character "\'"', "the quote is not closed on this line"),
        ("/* a", "the comment /* is never closed", "close it with */"),
        (
            "a(b :- c).",
            "')' or an operator was expected before ':-'",
            "a bracket is not closed before it, or",
        ),
        ("a = b = c.", "'=' cannot follow '=' here", "put brackets around one of the two parts"),
        ("a(\x00).", "control or invisible character U+0000", "remove it"),
        ("a. % \u202e b", "control or invisible character U+202E", "remove it"),
    ],
)
def test_errors_say_what_came_and_what_to_do(text: str, message: str, hint: str) -> None:
    first = read(text).diagnostics[0]
    assert first.message == message
    assert first.hint.startswith(hint)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a" * 10_000_000, "10,000,000 characters"),
        ("a('" + "x" * 5_000_000 + "').", "characters; at most"),
        ("a('" + "x" * 50_000 + "').", "quoted text of 50,002 characters"),
        ("(" * 100_000 + "a" + ")" * 99_000 + ".", "more than 100 brackets are open"),
        ("a(" + "9" * 2_000_000 + ").", "characters; at most"),
        ("a(" + "9" * 150_000 + ").", "a number of 150,000 digits"),
        ("x" * 150_000 + ".", "a name of 150,000 characters"),
        ("[" * 90_000, "more than 100 brackets are open"),
        ("1e999.", "too large or too small"),
    ],
)
def test_giants_are_refused_with_a_reason(text: str, part: str) -> None:
    reading = read(text)
    assert reading.clauses == ()
    assert part in reading.diagnostics[0].message


def test_long_flat_terms_are_read_without_recursion() -> None:
    assert len(read("a :- " + "b, " * 20_000 + "b.").clauses) == 1
    assert len(read("a(1" + " + 1" * 20_000 + ").").clauses) == 1
    assert len(read("a([" + "1, " * 20_000 + "1]).").clauses) == 1


def _terms() -> st.SearchStrategy[Term]:
    names = st.sampled_from(
        ["a", "b c", "-", "+", ":-", "\\+", "it's", "dynamic", "ä", "\n", "A", "{}", "|"]
    )
    fractions = st.fractions().filter(lambda value: value.denominator > 1)
    leaves = st.one_of(
        names.map(Atom), st.integers(-(10**12), 10**12), fractions, st.just(Var("X"))
    )

    def compounds(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        arguments = st.lists(inner, min_size=1, max_size=3)
        return st.one_of(
            st.builds(lambda n, a: Struct(n, tuple(a)), names, arguments), arguments.map(list_of)
        )

    return st.recursive(leaves, compounds, max_leaves=12)


@settings(max_examples=150, deadline=None)
@given(_terms())
def test_canonical_text_reads_back_as_the_same_term(term: Term) -> None:
    text = write(term)
    again = read_term(text + " .").term
    assert write(again) == text
    if "_" not in text:
        assert same(again, term)


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet=st.sampled_from(list("ab XY_09'\"`()[]{}|,.:-+*/\\%\n;!<>=@#$&~^?é")))
    | st.text()
)
def test_any_text_is_read_or_refused_without_an_exception(text: str) -> None:
    reading = read(text)
    for diagnostic in reading.diagnostics:
        assert diagnostic.message
    for clause in reading.clauses:
        assert write(read_term(write(clause.term) + " .").term) == write(clause.term)


@pytest.mark.parametrize("text", ["0'\\q", "0'\\z", "0'\\x0\\", "0'\\xffffffff\\", "'\\xd800\\'"])
def test_an_escape_that_is_no_character_is_a_syntax_error(text: str) -> None:
    assert [d.code for d in read(f"a({text}).").diagnostics] == ["syntax"]
