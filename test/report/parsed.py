"""Reads pages of --report strictly: every element is closed where it was opened, and nothing comes from elsewhere."""
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

from tools import expect

VOID = {'meta', 'br', 'hr', 'img', 'input', 'link'}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children = tag, attributes, parent, []

    def walk(self):
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def all(self, tag, name=None):
        """The elements inside with this tag, and with this class."""
        return [each for each in self.walk() if each is not self and each.tag == tag and
                (name is None or name in each.attributes.get('class', '').split())]

    def text(self):
        return ''.join(child if isinstance(child, str) else child.text() for child in self.children)


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        with open(path, encoding='utf-8') as file:
            self.source = file.read()
        self.root = self.at = Element('document', {}, None)
        self.ids = {}
        self.feed(self.source)
        self.close()
        expect(self.at is self.root, f'<{self.at.tag}> is not closed')
        self.check()

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        expect(len(names) == len(set(names)), f'<{tag}> has an attribute twice: {names}')
        element = Element(tag, {name: value or '' for name, value in attributes}, self.at)
        self.at.children.append(element)
        if 'id' in element.attributes:
            expect(element.attributes['id'] not in self.ids, f'two elements have the id {element.attributes["id"]}')
            self.ids[element.attributes['id']] = element
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        expect(self.at.tag == tag, f'</{tag}> closes <{self.at.tag}>')
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)

    def check(self):
        """Nothing is loaded, links lead to places on the page, and each drawing is XML whose parts lie in it."""
        for each in self.root.walk():
            expect('src' not in each.attributes and each.tag not in ('link', 'img', 'iframe', 'object', 'base'),
                   f'<{each.tag}> loads something: {each.attributes}')
            target = each.attributes.get('href', '#')
            expect(target.startswith('#') and (target == '#' or target[1:] in self.ids), f'a link to {target}')
            handlers = [name for name in each.attributes if name.startswith('on')]
            expect(not handlers, f'<{each.tag}> has {handlers}')
        expect(len(self.root.all('script')) == 1, f'{len(self.root.all("script"))} scripts')
        expect(not re.search(r'url\(|@import|https?://|//[a-z]', self.source), 'the page names an address')
        for source in re.findall(r'<svg.*?</svg>', self.source, re.S):
            drawing = ElementTree.fromstring(source)
            width, height = (float(number) for number in drawing.get('viewBox').split()[2:])
            for bar in drawing.iter('rect'):
                x, y, wide, high = (float(bar.get(key, 0)) for key in ('x', 'y', 'width', 'height'))
                expect(0 <= x and x + wide <= width + 1.01 and 0 <= y and y + high <= height + 0.01 and wide > 0 and high > 0,
                       f'a bar at {x} {y} of {wide} x {high} in a drawing of {width} x {height}')

    def rows(self, caption):
        """The rows of the table whose caption begins so, as dictionaries by header."""
        for table in self.root.all('table'):
            if table.all('caption')[0].text().startswith(caption):
                headers = [header.text() for header in table.all('th')]
                return [dict(zip(headers, [cell.text() for cell in row.all('td')])) for row in table.all('tr')[1:]]
        expect(False, f'no table {caption}')

    def cards(self):
        return {card.all('dt')[0].text(): card.all('dd')[0].children[0] for card in self.root.all('div', 'card')}

    def lanes(self):
        """By the name of each timeline: the bars, as (class, begin, width) in shares of the step."""
        found = {}
        for row in self.ids['timeline'].all('div', 'row'):
            name = row.all('div', 'who')[0].children[0]
            bars = [bar for bar in row.all('rect') if bar.attributes['class'] != 'lane']
            expect(all(len(bar.all('title')) == 1 for bar in bars), f'{name} has bars without a title')
            found[name] = [(bar.attributes['class'], float(bar.attributes['x']) / 1e4, float(bar.attributes['width']) / 1e4)
                           for bar in bars]
        return found


UNITS = {'bytes': 1, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30, 's': 1, 'ms': 1e-3, 'µs': 1e-6}


def number(text):
    """"1.50 KiB" in bytes, "2.5 ms" in seconds."""
    value, unit = text.split()
    return float(value) * UNITS[unit]
