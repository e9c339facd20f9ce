"""No link leads nowhere: links.py [SITE]. In every Markdown file of the repository, and in the site if it is given: files, headings,
pictures. The site loads nothing from elsewhere. Addresses on the web are not visited."""
import html.parser
import os
import re
import subprocess
import sys
import urllib.parse

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
wrong = []


def is_elsewhere(target):
    return re.match(r"[a-z]+:|//", target) is not None


def slug(heading):
    """As Markdown's toc and code hosts make it: small letters, no punctuation, blanks become hyphens."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"^(    |\t).*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def check_markdown():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    texts = {file: open(os.path.join(ROOT, file)).read() for file in files}
    headings = {file: {slug(h) for h in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)}
                for file, text in texts.items()}
    count = 0
    for file, text in texts.items():
        for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", without_code(text)):
            count += 1
            if is_elsewhere(target):
                continue
            path, _, anchor = target.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
            if not os.path.exists(os.path.join(ROOT, full)):
                wrong.append(f"{file}: {target}: no such file")
            elif anchor and full in headings and anchor not in headings[full]:
                wrong.append(f"{file}: {target}: no such heading")
    return count


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(filter(None, (values.get("id"), values.get("name") if tag == "a" else None)))
        if tag in ("img", "script", "link", "iframe") and (values.get("src") or values.get("href")):
            self.loaded.append(values.get("src") or values["href"])
        elif values.get("href"):
            self.links.append(values["href"])


def check_site(site):
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                page = pages[os.path.join(folder, name)] = Page()
                page.feed(open(os.path.join(folder, name)).read())
    count = 0
    for path, page in pages.items():
        shown = os.path.relpath(path, site)
        if shown == "404.html":  # is shown anywhere, so it has absolute addresses
            continue
        for target in page.links + page.loaded:
            count += 1
            if is_elsewhere(target):
                if target in page.loaded:
                    wrong.append(f"{shown}: loads {target}")
                continue
            place, _, anchor = urllib.parse.unquote(target).partition("#")
            place = place.partition("?")[0]
            full = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path
            if os.path.isdir(full):
                full = os.path.join(full, "index.html")
            if not os.path.exists(full):
                wrong.append(f"{shown}: {target}: no such file")
            elif anchor and full in pages and anchor not in pages[full].ids:
                wrong.append(f"{shown}: {target}: no such heading")
    return count


found = [check_markdown()] + [check_site(site) for site in sys.argv[1:]]
print("\n".join(wrong))
print(f"{sum(found)} links, {len(wrong)} lead nowhere")
sys.exit(1 if wrong or min(found) < 50 else 0)
