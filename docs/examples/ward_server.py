"""A Model Context Protocol server of a ward: three calculations, by the official SDK.

``python docs/examples/ward_server.py`` speaks over its standard streams, with ``--port 8000`` over HTTP at
http://127.0.0.1:8000/mcp.
"""

import argparse

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("ward", version="1")


@server.tool()
def body_mass_index(weight_kg: float, height_m: float) -> str:
    """Body mass index in kg/m2 (weight in kg, height in m)."""
    return f"{weight_kg / height_m**2:.1f} kg/m2"


@server.tool()
def creatinine_clearance(age: int, weight_kg: float, creatinine_mg_dl: float, female: bool = False) -> str:
    """Creatinine clearance in mL/min (Cockcroft and Gault 1976; age in years, creatinine in serum)."""
    if creatinine_mg_dl <= 0:
        raise ToolError(f"creatinine must be above 0 mg/dL, found {creatinine_mg_dl}")
    return f"{(140 - age) * weight_kg / (72 * creatinine_mg_dl) * (0.85 if female else 1):.0f} mL/min"


@server.tool()
def mean_arterial_pressure(systolic: float, diastolic: float) -> str:
    """Mean arterial pressure in mmHg."""
    return f"{(systolic + 2 * diastolic) / 3:.0f} mmHg"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int)
    port = parser.parse_args().port
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)
