"""Decodes SBE messages by the schema alone.

    decoder.py schema.xml < lines of hexadecimal > a line of text for each

Knows nothing of Goblin: types, offsets and lengths come from the XML, versions are honoured as SBE
says. Data is printed in hexadecimal, a double as its bits, a set as its choices, no value as "-".
"""

import struct
import sys
import xml.etree.ElementTree as ElementTree

FORMATS = {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
           "int8": "b", "int16": "h", "int32": "i", "int64": "q", "double": "d", "float": "f"}


def local(element):
    return element.tag.rsplit("}", 1)[-1]


class Schema:
    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.order = {"littleEndian": "<", "bigEndian": ">"}[root.get("byteOrder", "littleEndian")]
        self.id, self.version = int(root.get("id")), int(root.get("version"))
        self.types = {t.get("name"): t for types in root if local(types) == "types" for t in types}
        self.messages = {int(m.get("id")): m for m in root if local(m) == "message"}
        self.header = root.get("headerType", "messageHeader")

    def format(self, primitive):
        return self.order + FORMATS[primitive]


class Reader:
    def __init__(self, schema, data):
        self.schema, self.data, self.at = schema, data, 0
        self.version = schema.version

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError("cut")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, primitive):
        form = self.schema.format(primitive)
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def composite(self, name):
        """The fields of a composite of plain numbers."""
        return {t.get("name"): self.number(t.get("primitiveType"))
                for t in self.schema.types[name] if t.get("length") != "0"}

    def is_present(self, element):
        return int(element.get("sinceVersion", "0")) <= self.version

    def value(self, block, field):
        kind = self.schema.types[field.get("type")]
        primitive = kind.get("primitiveType") or kind.get("encodingType")
        form = self.schema.format(primitive)
        size, count = struct.calcsize(form), int(kind.get("length", "1"))
        offset = int(field.get("offset"))
        if not self.is_present(field) or offset + size * count > len(block):
            return "-"
        raw = block[offset:offset + size * count]
        if count > 1:
            return raw.hex()
        number = struct.unpack(form, raw)[0]
        if field.get("presence") == "optional" and self.is_null(primitive, number):
            return "-"
        if local(kind) == "enum":
            names = {int(v.text): v.get("name") for v in kind}
            return names[number]
        if local(kind) == "set":
            return "+".join(c.get("name") for c in kind if number >> int(c.text) & 1)
        if primitive == "double":
            return "%016x" % struct.unpack("<Q", struct.pack("<d", number))[0]
        return str(number)

    @staticmethod
    def is_null(primitive, number):
        if primitive == "double":
            return number != number
        bits = 8 * struct.calcsize("<" + FORMATS[primitive])
        return number == (2 ** bits - 1 if primitive[0] == "u" else -2 ** (bits - 1))

    def body(self, element, block_length):
        """The parts of a message or entry, in the order of the schema."""
        block, parts = self.take(block_length), []
        for part in element:
            name = part.get("name")
            if local(part) == "field":
                parts.append("%s=%s" % (name, self.value(block, part)))
            elif not self.is_present(part):
                parts.append("%s=%s" % (name, "[]" if local(part) == "group" else ""))
            elif local(part) == "group":
                size = self.composite(part.get("dimensionType"))
                entries = [self.body(part, size["blockLength"]) for _ in range(size["numInGroup"])]
                parts.append("%s=[%s]" % (name, "|".join(" ".join(entry) for entry in entries)))
            else:
                length = self.composite(part.get("type"))["length"]
                parts.append("%s=%s" % (name, self.take(length).hex()))
        return parts


def decode(schema, data):
    reader = Reader(schema, data)
    header = reader.composite(schema.header)
    if header["schemaId"] != schema.id:
        raise ValueError("schema %d" % header["schemaId"])
    message = schema.messages[header["templateId"]]
    reader.version = header["version"]
    parts = reader.body(message, header["blockLength"])
    if reader.at < len(data) and header["version"] <= schema.version:
        raise ValueError("%d bytes too many" % (len(data) - reader.at))
    return " ".join([message.get("name")] + parts)


def main():
    schema = Schema(sys.argv[1])
    for line in sys.stdin:
        try:
            print(decode(schema, bytes.fromhex(line.strip())))
        except (ValueError, KeyError) as error:
            print("refused: %r" % error)


main()
