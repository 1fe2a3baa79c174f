"""DataCite, CSL-JSON, BibTeX, SARIF, JUnit: run in the environment `cite`. Arguments: the folder of exports, that of vendored schemas."""

import json
import sys
from pathlib import Path

import bibtexparser
import junitparser
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from datacite import schema45
from jsonschema import Draft4Validator
from lxml import etree

FOLDER, SCHEMAS = Path(sys.argv[1]), Path(sys.argv[2])


def catch(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


def read_bibtex(text):
    library = bibtexparser.parse_string(text)
    if library.failed_blocks or len(library.entries) != 1:
        raise ValueError(f"{len(library.entries)} entries, {len(library.failed_blocks)} blocks failed")
    if "author" not in library.entries[0].fields_dict or "title" not in library.entries[0].fields_dict:
        raise ValueError("no author or title")


def read_junit(path):
    for suite in junitparser.JUnitXml.fromfile(str(path)):
        list(suite)


def format_csl(items):
    source = CiteProcJSON(items)
    bibliography = CitationStylesBibliography(CitationStylesStyle("harvard-cite-them-right", validate=False), source, formatter.plain)
    bibliography.register(Citation([CitationItem(items[0]["id"].lower())]))
    text = str(bibliography.bibliography()[0])
    if str(items[0]["issued"]["date-parts"][0][0]) not in text:
        raise ValueError(f"the year is not in the citation: {text}")


def main():
    rows = []

    def add(format_, path, fault, rejected):
        rows.append({"format": format_, "file": path.name, "faults": [fault] if fault else [], "rejected": rejected})

    for path in sorted(FOLDER.rglob("*.datacite.json")):
        document = json.loads(path.read_bytes())
        validate = schema45.validator.validate
        add(
            "datacite",
            path,
            catch(validate, document),
            {
                "unknown field": bool(catch(validate, {**document, "verdict": "holds"})),
                "wrong field": bool(catch(validate, {**document, "publicationYear": "soon"})),
            },
        )
    for path in sorted(FOLDER.rglob("*.csl.json")):
        items = json.loads(path.read_bytes())
        add(
            "csl",
            path,
            catch(format_csl, items),
            {
                "wrong field": bool(catch(format_csl, [{**items[0], "issued": {"date-parts": [["soon"]]}}])),
                "missing field": bool(catch(format_csl, [{name: value for name, value in items[0].items() if name != "id"}])),
            },
        )
    for path in sorted(FOLDER.rglob("*.bib")):
        text = path.read_text(encoding="utf-8")
        add("bibtex", path, catch(read_bibtex, text), {"an entry that does not end": bool(catch(read_bibtex, text.rstrip().rstrip("}")))})
    sarif = Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0.schema.json").read_bytes()))
    for path in sorted(FOLDER.rglob("*.sarif")):
        document = json.loads(path.read_bytes())
        add(
            "sarif", path, catch(sarif.validate, document), {"unknown field": bool(catch(sarif.validate, {**document, "verdict": "holds"}))}
        )
    junit = etree.XMLSchema(etree.parse(str(SCHEMAS / "junit-10.xsd")))
    for path in sorted(FOLDER.rglob("*.junit.xml")):
        tree = etree.parse(str(path))
        fault = catch(junit.assertValid, tree) or catch(read_junit, path)
        tree.getroot().append(etree.Element("verdict"))
        add("junit", path, fault, {"unknown field": bool(catch(junit.assertValid, tree))})
    print(json.dumps(rows))


main()
